// Lists of hosts as Slurm writes them.
#include <algorithm>
#include <cctype>
#include <string>

#include "src/job/launch.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

// So few digits make at most some thousand hosts; a million would take most of the time.
constexpr std::ptrdiff_t few_digits = 6;

bool is_short(std::string_view list) {
  return std::ranges::count_if(list, [](char c) { return c >= '0' && c <= '9'; }) <= few_digits;
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  auto const list = as_text(bytes);
  std::string first;
  bool const has_first = !refuses([&] { first = first_host(list); });
  if (!is_short(list)) return;
  (void)refuses([&] {
    auto const hosts = expand_hosts(list);
    require(has_first && !hosts.empty(), "all hosts of a list that has no first one");
    require(hosts.front() == first, "another first host than that of all");
  });
}

}  // namespace tessera::fuzz
