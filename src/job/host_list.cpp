// Slurm's lists of hosts: "n[1-3,07],gpu2".
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/launch.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_hosts = 1'000'000;
// Of an entry, one inside the other as they are expanded; machines have a few dimensions.
constexpr int most_brackets = 16;

[[noreturn]] void fail_on(std::string_view list, std::string_view why) {
  throw ConfigError(
      text("the list of hosts '", excerpt(list), "' ", why, "; expected one as n[1-3,07],gpu2"));
}

/// Takes hosts out of a list until it has as many as are wanted.
class HostList {
 public:
  HostList(std::string_view list, std::size_t wanted) : list_(list), wanted_(wanted) {}

  std::vector<std::string> expand() {
    auto rest = list_;
    while (!has_enough()) {
      auto const entry = take_entry(rest);
      if (entry.empty()) fail_on(list_, "has an empty entry");
      if (std::ranges::count(entry, '[') > most_brackets)
        fail_on(list_, text("has an entry with more than ", most_brackets, " pairs of brackets"));
      add("", entry);
      if (rest.empty()) return std::move(hosts_);
      rest.remove_prefix(1);
    }
    return std::move(hosts_);
  }

 private:
  [[nodiscard]] bool has_enough() const { return hosts_.size() >= wanted_; }

  /// Up to the next comma that is not between brackets.
  [[nodiscard]] std::string_view take_entry(std::string_view& rest) const {
    bool inside = false;
    std::size_t length = 0;
    for (; length < rest.size() && (inside || rest[length] != ','); ++length) {
      if (rest[length] == '[' || rest[length] == ']') {
        if (inside == (rest[length] == '[')) fail_on(list_, "has brackets that do not match");
        inside = !inside;
      }
    }
    if (inside) fail_on(list_, "has brackets that do not match");
    auto const entry = rest.substr(0, length);
    rest.remove_prefix(length);
    return entry;
  }

  /// Every host that begins with `front` and goes on as `pattern` says.
  void add(std::string const& front, std::string_view pattern) {
    auto const open = pattern.find('[');
    if (open == std::string_view::npos) {
      if (hosts_.size() == most_hosts) fail_on(list_, text("has more than ", most_hosts, " hosts"));
      hosts_.push_back(front + std::string(pattern));
      return;
    }
    auto const close = pattern.find(']');
    auto const begin = front + std::string(pattern.substr(0, open));
    auto const behind = pattern.substr(close + 1);
    auto ranges = pattern.substr(open + 1, close - open - 1);
    while (!has_enough()) {
      auto const range = ranges.substr(0, ranges.find(','));
      add_range(begin, range, behind);
      if (range.size() == ranges.size()) return;
      ranges.remove_prefix(range.size() + 1);
    }
  }

  /// "001-015": as many digits as its first number has.
  void add_range(std::string const& front, std::string_view range, std::string_view behind) {
    auto const dash = range.find('-');
    auto const first = range.substr(0, dash);
    auto const last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    auto const from = number(first);
    auto const to = number(last);
    if (to < from) fail_on(list_, text("has the range ", excerpt(range), ", which runs backwards"));
    for (auto i = from; !has_enough(); ++i) {
      auto digits = std::to_string(i);
      digits.insert(0, first.size() - std::min(first.size(), digits.size()), '0');
      add(front + digits, behind);
      if (i == to) return;  // there may be no number behind it
    }
  }

  [[nodiscard]] std::int64_t number(std::string_view digits) const {
    std::int64_t value = 0;
    auto const* const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end || value < 0)
      fail_on(list_, text("has '", excerpt(digits), "' where a number belongs"));
    return value;
  }

  std::string_view list_;
  std::size_t wanted_;
  std::vector<std::string> hosts_;
};

}  // namespace

std::vector<std::string> expand_hosts(std::string_view list) {
  return HostList(list, most_hosts + 1).expand();
}

std::string first_host(std::string_view list) {
  return HostList(list, 1).expand().front();
}

}  // namespace tessera
