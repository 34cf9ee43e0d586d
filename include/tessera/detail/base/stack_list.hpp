#pragma once
/// @file
/// A list inside an object, whose items begin to live when they are added.

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "tessera/detail/base/assert.hpp"

namespace tessera::detail {

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
  void push_back(T item) {
    TESSERA_ASSERT(size_ < Capacity, size_, " items already");
    new (static_cast<void*>(bytes_ + size_ * sizeof(T))) T(std::move(item));
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
