#pragma once
/// @file
/// Lists of bounded length, in place: no allocation, ever.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <new>
#include <ostream>
#include <type_traits>
#include <utility>

#include "tessera/detail/base/assert.hpp"

namespace tessera::detail {

/// Throws: UsageError.
[[noreturn]] void refuse_long_list(std::size_t items, std::size_t capacity);

/// Room for items.
template <class T, std::size_t Capacity>
struct InlineItems {
  std::array<T, Capacity> items;

  [[nodiscard]] constexpr T* data() { return items.data(); }
  [[nodiscard]] constexpr T const* data() const { return items.data(); }
};

/// Storage for trivially copyable items whose members have default values. It leaves unused places
/// uninitialised, because writing the defaults took longer than all other work on most vectors. C++
/// starts the lifetimes of such items with that of the bytes.
template <class T, std::size_t Capacity>
requires(std::is_aggregate_v<T>&& std::is_trivially_copyable_v<T> &&
         !std::is_trivially_default_constructible_v<T>) struct InlineItems<T, Capacity> {
  alignas(T) std::array<std::byte, sizeof(T) * Capacity> bytes;

  [[nodiscard]] T* data() { return std::launder(reinterpret_cast<T*>(bytes.data())); }
  [[nodiscard]] T const* data() const {
    return std::launder(reinterpret_cast<T const*>(bytes.data()));
  }
};

/// Up to `Capacity` items in place. Items past `size()` keep their last value and never count.
/// Pushing past the capacity violates an invariant and is no caller's mistake: check sizes before.
template <class T, std::size_t Capacity>
class InlineVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = T const*;

  constexpr InlineVector() = default;
  constexpr InlineVector(InlineVector const& other) : size_(other.size_) {
    for (std::size_t i = 0; i < size_; ++i) items_.data()[i] = other.items_.data()[i];
  }
  constexpr InlineVector& operator=(InlineVector const& other) {
    size_ = other.size_;
    for (std::size_t i = 0; i < size_; ++i) items_.data()[i] = other.items_.data()[i];
    return *this;
  }
  /// Throws: UsageError if there are more items than fit, since callers write such lists.
  constexpr InlineVector(std::initializer_list<T> items) {
    if (items.size() > Capacity) refuse_long_list(items.size(), Capacity);
    for (T const& item : items) push_back(item);
  }
  constexpr explicit InlineVector(std::size_t count, T const& value) { resize(count, value); }
  template <std::size_t count>
  constexpr explicit InlineVector(std::array<T, count> const& items)
      : InlineVector(items.begin(), items.end()) {}
  template <std::input_iterator Iterator>
  constexpr InlineVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }

  [[nodiscard]] constexpr std::size_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] static constexpr std::size_t capacity() { return Capacity; }

  constexpr T& operator[](std::size_t i) { return items_.data()[i]; }
  constexpr T const& operator[](std::size_t i) const { return items_.data()[i]; }
  constexpr T& back() { return items_.data()[size_ - 1]; }
  constexpr T const& back() const { return items_.data()[size_ - 1]; }

  /// Adds an item; there must be room.
  constexpr void push_back(T const& item) {
    TESSERA_ASSERT(size_ < Capacity, size_, " items already");
    items_.data()[size_++] = item;
  }
  constexpr void push_back(T&& item) {
    TESSERA_ASSERT(size_ < Capacity, size_, " items already");
    items_.data()[size_++] = std::move(item);
  }
  constexpr void pop_back() { --size_; }
  constexpr void clear() { size_ = 0; }
  /// Makes it `count` items long; new ones are `value`.
  constexpr void resize(std::size_t count, T const& value = T{}) {
    TESSERA_ASSERT(count <= Capacity, count, " items asked for");
    for (std::size_t i = size_; i < count; ++i) items_.data()[i] = value;
    size_ = count;
  }

  constexpr iterator begin() { return items_.data(); }
  constexpr iterator end() { return items_.data() + size_; }
  constexpr const_iterator begin() const { return items_.data(); }
  constexpr const_iterator end() const { return items_.data() + size_; }

  friend constexpr bool operator==(InlineVector const& a, InlineVector const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend constexpr auto operator<=>(InlineVector const& a, InlineVector const& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }
  friend std::ostream& operator<<(std::ostream& out, InlineVector const& vector) {
    return out << join(vector, "(", vector.size() == 1 ? ",)" : ")");
  }

 private:
  InlineItems<T, Capacity> items_;
  std::size_t size_ = 0;
};

/// Up to `Capacity` items in place. An empty list costs nothing to make, however long it may grow;
/// no allocation, ever. Pushing past the capacity is a broken promise: check sizes before.
template <class T, std::size_t Capacity>
class StackList {
 public:
  StackList() = default;
  ~StackList() { clear(); }
  StackList(StackList const& other) {
    for (T const& item : other) push_back(item);
  }
  StackList& operator=(StackList const& other) {
    if (this == &other) return *this;
    clear();
    for (T const& item : other) push_back(item);
    return *this;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }

  T& operator[](std::size_t i) { return begin()[i]; }
  T const& operator[](std::size_t i) const { return begin()[i]; }

  /// Adds an item; there must be room.
  void push_back(T const& item) { emplace_back(item); }
  void push_back(T&& item) { emplace_back(std::move(item)); }
  /// Makes an item in its place, of the members' values; there must be room.
  template <class... Values>
  void emplace_back(Values&&... values) {
    TESSERA_ASSERT(size_ < Capacity, size_, " items already");
    new (static_cast<void*>(bytes_ + size_ * sizeof(T))) T{std::forward<Values>(values)...};
    ++size_;
  }
  /// Ends the life of all items.
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }

  T* begin() { return std::launder(reinterpret_cast<T*>(bytes_)); }
  T* end() { return begin() + size_; }
  T const* begin() const { return std::launder(reinterpret_cast<T const*>(bytes_)); }
  T const* end() const { return begin() + size_; }

 private:
  alignas(T) std::byte bytes_[sizeof(T) * Capacity];
  std::size_t size_ = 0;
};

}  // namespace tessera::detail
