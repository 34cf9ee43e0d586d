#pragma once
/// @file
/// The cells of one device as plain memory, for custom kernels.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/array/erased/handle.hpp"

namespace tessera {

/// The cells of an array that one device of this process holds. `T` is the element type, const if
/// the cells may only be read. Indices count from 0 in the shard; cell i of it is the array's cell
/// box().lo + i.
///
/// Copies show the same cells. Rows are contiguous (the last stride is 1) and lie apart: ghost
/// cells and padding are between them.
/// Lifetime: until the next statement that names the array, or the array's end.
template <class T, std::size_t N>
class ShardView {
 public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr std::size_t rank = N;
  using Extents = std::array<std::int64_t, N>;

  explicit ShardView(detail::RawShard const& raw)
      : device_(raw.device), box_(raw.box), data_(reinterpret_cast<T*>(raw.cells)) {
    for (std::size_t d = 0; d < N; ++d) {
      extents_[d] = raw.box.extent(d);
      strides_[d] = raw.strides[d];
    }
  }
  /// A view of your own memory: `box` of an array as `device` holds it, with cell (i, j, …) of the
  /// box at data[i · strides[0] + j · strides[1] + …].
  ShardView(DeviceId device, Box const& box, T* data, Extents const& strides)
      : device_(device), box_(box), data_(data), strides_(strides) {
    for (std::size_t d = 0; d < N; ++d) extents_[d] = box.extent(d);
  }
  /// A view to write is a view to read.
  template <class U>
  requires(!std::is_const_v<U> && std::is_same_v<U const, T>)
      ShardView(ShardView<U, N> const& other)  // NOLINT: a view to write can be read
      : device_(other.device()),
        box_(other.box()),
        data_(other.data()),
        extents_(other.extents()),
        strides_(other.strides()) {}

  [[nodiscard]] DeviceId device() const { return device_; }
  /// The box of the array's cells that this shard holds.
  [[nodiscard]] Box const& box() const { return box_; }
  [[nodiscard]] Extents const& extents() const { return extents_; }
  /// The cells along dimension d.
  [[nodiscard]] std::int64_t extent(std::size_t d) const { return extents_[d]; }
  /// From one cell to the next along each dimension, in elements.
  [[nodiscard]] Extents const& strides() const { return strides_; }
  /// From one cell to the next along dimension d, in elements.
  [[nodiscard]] std::int64_t stride(std::size_t d) const { return strides_[d]; }
  [[nodiscard]] std::int64_t size() const { return box_.cells(); }
  [[nodiscard]] bool empty() const { return box_.empty(); }
  /// The first cell; null if there are none.
  [[nodiscard]] T* data() const { return data_; }

  /// Cell (i, j, …) of the shard, unchecked.
  template <std::integral... I>
  requires(sizeof...(I) == N) [[nodiscard]] T& operator()(I... i) const {
    return (*this)[Extents{static_cast<std::int64_t>(i)...}];
  }
  [[nodiscard]] T& operator[](Extents const& i) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < N; ++d) offset += i[d] * strides_[d];
    return data_[offset];
  }

 private:
  DeviceId device_;
  Box box_;
  T* data_;
  Extents extents_{};
  Extents strides_{};
};

}  // namespace tessera
