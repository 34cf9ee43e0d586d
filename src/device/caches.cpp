#include "src/device/caches.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include <unistd.h>

#include "src/base/file_bytes.hpp"
#include "src/device/cores.hpp"

namespace tessera {
namespace {

/// The first line of a file; empty if it cannot be read.
std::string line_of(std::filesystem::path const& path) {
  auto const whole = bytes_if_readable(path);
  return whole.substr(0, whole.find('\n'));
}

/// Takes a number off the front of `text`; 0 if there is none.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  auto const* const end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// A size as "48K", in bytes.
std::int64_t bytes_of(std::string_view text) {
  auto const number = take_number(text);
  if (text == "K") return number << 10U;
  return text == "M" ? number << 20U : number;
}

/// The number of items in a list such as "0-1,4"; at least 1.
std::int64_t length_of(std::string_view list) {
  std::int64_t length = 0;
  while (!list.empty()) {
    auto const first = take_number(list);
    auto last = first;
    if (list.starts_with('-')) {
      list.remove_prefix(1);
      last = take_number(list);
    }
    length += last - first + 1;
    list.remove_prefix(std::min(list.find_first_of("0123456789"), list.size()));
  }
  return std::max<std::int64_t>(length, 1);
}

std::int64_t first_positive(std::int64_t a, std::int64_t b, std::int64_t c) {
  if (a > 0) return a;
  return b > 0 ? b : c;
}

}  // namespace

namespace detail {

Caches caches_under(std::filesystem::path const& folder) {
  Caches result;
  std::int64_t threads = 1, sharers = 1;  // of the two caches
  for (int i = 0;; ++i) {
    auto const cache = folder / ("index" + std::to_string(i));
    auto const level = line_of(cache / "level");
    if (level.empty()) break;
    if (line_of(cache / "type") == "Instruction") continue;
    auto const bytes = bytes_of(line_of(cache / "size"));
    auto const shared = length_of(line_of(cache / "shared_cpu_list"));
    if (level == "1") {
      result.nearest = bytes;
      threads = shared;
    } else if (level == "2") {
      result.second = bytes;
      sharers = shared;
    }
  }
  result.second /= std::max<std::int64_t>(sharers / threads, 1);
  return result;
}

}  // namespace detail

Caches core_caches() {
  constexpr Caches usual{1L << 15, 1L << 20};
  auto const mask = core_facts().mask;
  auto const core = "cpu" + std::to_string(mask.empty() ? 0 : mask.front());
  auto const told = detail::caches_under("/sys/devices/system/cpu/" + core + "/cache");
  return {first_positive(told.nearest, ::sysconf(_SC_LEVEL1_DCACHE_SIZE), usual.nearest),
          first_positive(told.second, ::sysconf(_SC_LEVEL2_CACHE_SIZE), usual.second)};
}

}  // namespace tessera
