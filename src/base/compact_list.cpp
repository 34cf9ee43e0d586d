#include "src/base/compact_list.hpp"

#include <algorithm>

namespace tessera {
namespace {

constexpr std::size_t fewest_times = 3;

class RepeatSearch {
 public:
  explicit RepeatSearch(NumberedEntries const& entries) : entries_(entries) {}

  [[nodiscard]] std::vector<Repeat> all() const {
    std::vector<Repeat> repeats;
    std::size_t once = 0;  // the first entry that is in no repeat yet
    auto const add_entries_until = [&](std::size_t end) {
      if (once < end) repeats.push_back({.begin = once, .group = end - once});
    };
    for (std::size_t i = 0; i < size();) {
      auto const found = most_at(i);
      if (found.count == 1) {
        ++i;
        continue;
      }
      add_entries_until(i);
      repeats.push_back(found);
      i = once = found.end();
    }
    add_entries_until(size());
    return repeats;
  }

 private:
  [[nodiscard]] std::size_t size() const { return entries_.forms.size(); }

  // The group that occurs most often from an entry on: the least of its entries are kept.
  [[nodiscard]] Repeat most_at(std::size_t begin) const {
    Repeat most{.begin = begin};
    for (std::size_t group = 1; group <= longest_group; ++group) {
      if (begin + fewest_times * group > size()) break;
      if (!is_third(begin + 2 * group, group)) continue;
      auto const count = times(begin, group);
      if (count < fewest_times) continue;
      if (count > most.count) most = {.begin = begin, .group = group, .count = count};
      if (begin + (count + 1) * group > size()) break;  // a longer group occurs less often
    }
    return most;
  }

  // How many times the group at `begin` occurs in a row, if at least three times.
  [[nodiscard]] std::size_t times(std::size_t begin, std::size_t group) const {
    auto i = begin + 2 * group;
    while (i < size() && is_third(i, group)) ++i;
    return (i - begin) / group;
  }

  // True if an entry continues the step between the two that lie one and two groups before it.
  [[nodiscard]] bool is_third(std::size_t i, std::size_t group) const {
    auto const& forms = entries_.forms;
    if (forms[i] != forms[i - group] || forms[i] != forms[i - 2 * group]) return false;
    auto const width = entries_.width;
    auto const* const third = entries_.numbers.data() + i * width;
    auto const* const second = third - group * width;
    auto const* const first = second - group * width;
    for (std::size_t n = 0; n < width; ++n)
      if (third[n] - second[n] != second[n] - first[n]) return false;
    return true;
  }

  NumberedEntries const& entries_;
};

}  // namespace

std::vector<Repeat> find_repeats(NumberedEntries const& entries) {
  return RepeatSearch(entries).all();
}

std::size_t repeat_with(std::span<Repeat const> repeats, std::size_t i) {
  auto const found = std::ranges::partition_point(
      repeats, [&](Repeat const& repeat) { return repeat.end() <= i; });
  return static_cast<std::size_t>(found - repeats.begin());
}

}  // namespace tessera
