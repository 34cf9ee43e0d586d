#pragma once
/// @file
/// Lists whose entries mostly follow each other in equal steps, such as the boxes of a cyclic cut.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/detail/base/assert.hpp"

namespace tessera {

/// A group of `group` entries that occurs `count` times in a row. From one occurrence to the next,
/// each number of an entry grows by a step of its own; the rest of the entry does not change.
struct Repeat {
  std::size_t begin = 0;  ///< in the list
  std::size_t group = 1;
  std::size_t count = 1;
  std::size_t first_entry = 0;  ///< among the entries that are kept
  std::size_t first_step = 0;   ///< among the steps; a group that occurs once has none

  [[nodiscard]] std::size_t end() const { return begin + group * count; }
};

/// The longest group that is looked for.
inline constexpr std::size_t longest_group = 64;
/// A shorter list stays plain: it takes little memory and is read faster.
inline constexpr std::size_t least_compact_size = 8;

/// The entries of a list, apart.
struct NumberedEntries {
  std::vector<std::int64_t> numbers;  ///< `width` for each entry
  std::vector<std::size_t> forms;     ///< equal for entries that differ only in their numbers
  std::size_t width = 0;
};

/// Divides a list into groups that occur at least three times, and what lies between them.
///
/// Cost: O(entries) time where they repeat; 64 times as much where they do not.
[[nodiscard]] std::vector<Repeat> find_repeats(NumberedEntries const& entries);

/// The number of the repeat that has entry i.
[[nodiscard]] std::size_t repeat_with(std::span<Repeat const> repeats, std::size_t i);

/// A list that is filled first and made compact then: of a group that repeats it keeps one
/// occurrence and its steps. Reading allocates nothing.
///
/// `T` has no destructor, and can be compared. Its member `visit_steps(visit)` calls
/// visit(number) for each integer that may differ between occurrences.
/// Threads: as std::vector.
template <class T>
class CompactList {
 public:
  class Iterator;

  CompactList() = default;
  CompactList(std::initializer_list<T> entries) : entries_(entries) {}

  [[nodiscard]] std::size_t size() const {
    return is_compact() ? repeats_.back().end() : entries_.size();
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] bool is_compact() const { return !repeats_.empty(); }
  [[nodiscard]] Iterator begin() const { return Iterator(*this); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }
  [[nodiscard]] T const& front() const { return entries_.front(); }
  [[nodiscard]] T operator[](std::size_t i) const;

  /// Adds an entry to a list that is not compact.
  void push_back(T const& entry) {
    TESSERA_ASSERT(!is_compact(), size(), " entries");
    entries_.push_back(entry);
  }

  /// Makes the list compact if it then takes less memory, and gives back what it does not need. A
  /// list stays plain if its entries have different counts of numbers.
  ///
  /// Cost: as find_repeats, and O(entries) for each form, 64 at most.
  void compact();
  /// Only gives back the memory that the list does not need.
  void shrink_to_fit() { entries_.shrink_to_fit(); }

  /// The memory of the list.
  [[nodiscard]] std::int64_t size_bytes() const {
    return static_cast<std::int64_t>(entries_.capacity() * sizeof(T) +
                                     steps_.capacity() * sizeof(std::int64_t) +
                                     repeats_.capacity() * sizeof(Repeat));
  }

 private:
  [[nodiscard]] NumberedEntries numbered() const;
  void keep(std::vector<Repeat>&& repeats, NumberedEntries const& numbered);

  std::vector<T> entries_;
  std::vector<std::int64_t> steps_;
  std::vector<Repeat> repeats_;  // of a compact list
};

/// A reference to an entry is valid until its iterator moves or ends.
template <class T>
class CompactList<T>::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T const&;
  using pointer = T const*;

  Iterator() = default;
  explicit Iterator(CompactList const& list) : list_(&list), at_(list.entries_.data()) {
    end_of_group_ = at_ + (list.is_compact() ? list.repeats_.front().group : list.entries_.size());
  }
  Iterator(CompactList const& list, std::size_t i);

  reference operator*() const { return times_ == 0 ? *at_ : entry_in(room_); }
  pointer operator->() const { return &**this; }

  /// The entry of the list's memory that differs from this one only in its numbers. It is valid as
  /// long as the list.
  [[nodiscard]] T const& kept() const { return *at_; }

  Iterator& operator++() {
    if (++at_ == end_of_group_ && list_->is_compact()) next_occurrence();
    return *this;
  }
  void operator++(int) { ++*this; }

  friend bool operator==(Iterator const& a, Iterator const& b) {
    return a.at_ == b.at_ && a.times_ == b.times_;
  }
  friend bool operator==(Iterator const& a, std::default_sentinel_t) {
    return a.at_ == a.end_of_group_;
  }

 private:
  // Memory for an entry, which most entries do not need: it has no value before.
  struct Room {
    Room() {}  // NOLINT
    Room(Room const&) {}
    Room& operator=(Room const&) { return *this; }

    alignas(T) std::byte bytes[sizeof(T)];
  };
  static_assert(std::is_trivially_destructible_v<T>);

  void enter(std::size_t repeat, std::size_t in_group);
  void next_occurrence();
  [[nodiscard]] T const& entry_in(Room& room) const;

  CompactList const* list_ = nullptr;
  T const* at_ = nullptr;  // the entry that is kept
  T const* end_of_group_ = nullptr;
  std::size_t times_ = 0;   // how often the group has occurred before
  std::size_t repeat_ = 0;  // of a compact list
  mutable Room room_;
};

template <class T>
CompactList<T>::Iterator::Iterator(CompactList const& list, std::size_t i) : Iterator(list) {
  if (!list.is_compact()) {
    at_ += i;
    return;
  }
  auto const found = repeat_with(list.repeats_, i);
  auto const& repeat = list.repeats_[found];
  times_ = (i - repeat.begin) / repeat.group;
  enter(found, (i - repeat.begin) % repeat.group);
}

template <class T>
void CompactList<T>::Iterator::enter(std::size_t repeat, std::size_t in_group) {
  repeat_ = repeat;
  auto const* const first = list_->entries_.data() + list_->repeats_[repeat].first_entry;
  at_ = first + in_group;
  end_of_group_ = first + list_->repeats_[repeat].group;
}

template <class T>
void CompactList<T>::Iterator::next_occurrence() {
  if (++times_ < list_->repeats_[repeat_].count) return enter(repeat_, 0);
  if (repeat_ + 1 == list_->repeats_.size()) return;  // the end
  times_ = 0;
  enter(repeat_ + 1, 0);
}

template <class T>
T const& CompactList<T>::Iterator::entry_in(Room& room) const {
  auto& entry = *std::construct_at(reinterpret_cast<T*>(room.bytes), kept());
  std::size_t width = 0;  // that of all entries
  entry.visit_steps([&](auto&) { ++width; });
  auto const& repeat = list_->repeats_[repeat_];
  auto const in_group = at_ - (list_->entries_.data() + repeat.first_entry);
  auto const* step =
      list_->steps_.data() + repeat.first_step + static_cast<std::size_t>(in_group) * width;
  entry.visit_steps([&](auto& number) {
    using Number = std::remove_reference_t<decltype(number)>;
    number += static_cast<Number>(*step++) * static_cast<Number>(times_);
  });
  return entry;
}

template <class T>
T CompactList<T>::operator[](std::size_t i) const {
  return *Iterator(*this, i);
}

template <class T>
void CompactList<T>::compact() {
  if (size() >= least_compact_size && !is_compact()) {
    auto const entries = numbered();
    if (!entries.forms.empty()) keep(find_repeats(entries), entries);
  }
  shrink_to_fit();
}

template <class T>
NumberedEntries CompactList<T>::numbered() const {
  constexpr std::size_t most_forms = 64;
  NumberedEntries result;
  std::vector<T> forms;
  for (auto form : entries_) {
    auto const before = result.numbers.size();
    form.visit_steps([&](auto& number) {
      result.numbers.push_back(static_cast<std::int64_t>(number));
      number = 0;
    });
    auto const width = result.numbers.size() - before;
    if (result.forms.empty()) result.width = width;
    if (width != result.width) return {};
    std::size_t known = 0;
    while (known < forms.size() && !(forms[known] == form)) ++known;
    if (known == forms.size() && known < most_forms) forms.push_back(form);
    // With all of them in use, an entry of another form gets a number that no other entry has.
    result.forms.push_back(known < most_forms ? known : most_forms + result.forms.size());
  }
  return result;
}

template <class T>
void CompactList<T>::keep(std::vector<Repeat>&& repeats, NumberedEntries const& numbered) {
  auto const width = numbered.width;
  CompactList list;
  for (auto& repeat : repeats) {
    repeat.first_entry = list.entries_.size();
    repeat.first_step = list.steps_.size();
    for (std::size_t i = repeat.begin; i < repeat.begin + repeat.group; ++i) {
      list.entries_.push_back(entries_[i]);
      if (repeat.count == 1) continue;
      for (std::size_t n = i * width; n < (i + 1) * width; ++n)
        list.steps_.push_back(numbered.numbers[n + repeat.group * width] - numbered.numbers[n]);
    }
  }
  list.repeats_ = std::move(repeats);
  list.entries_.shrink_to_fit();
  list.steps_.shrink_to_fit();
  list.repeats_.shrink_to_fit();
  entries_.shrink_to_fit();
  if (list.size_bytes() < size_bytes()) *this = std::move(list);
}

}  // namespace tessera
