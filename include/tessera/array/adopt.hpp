#pragma once
/// @file
/// Arrays whose cells lie in the caller's memory, or stay at fixed addresses so that other code can
/// use them. Both kinds are pinned.

#include <array>
#include <cstdint>
#include <source_location>
#include <vector>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/shard_view.hpp"

namespace tessera {
namespace detail {

/// The size of an element and where it may lie, in bytes.
struct ElementSize {
  std::int64_t bytes;
  std::int64_t alignment;
};

/// Memory for the boxes of this process's devices.
/// Throws: ShapeError, on every process, if that of any process does not fit.
[[nodiscard]] StatePtr adopt_shards(NamedSharding const& sharding, Shape const& shape,
                                    ElementSize element, std::vector<BorrowedBox> const& shards);

}  // namespace detail

/// An array whose cells are those that lie in the caller's memory: no copy is made, and statements
/// write there.
///
/// Shapes:   one view for each non-empty box that a device of this process holds; copies of the
///           same cells are separate memory with equal contents. Rows are contiguous: the last
///           stride is 1, and every other stride is at least as long as the extent that it steps
///           over.
/// Ranks:    collective; nothing is sent.
/// Lifetime: the memory outlives the array, its views, and the statements that name them;
///           `synchronize()` waits for these. Between statements, after `synchronize()`, the caller
///           may read and write it, copies alike.
/// Throws:   ShapeError, on every process alike, if the views of one process do not fit; and
///           ShardingError as DistArray.
/// Cost:     the array is pinned: it never gets ghost cells, so a statement that reads neighbours
///           first assembles their cells and its own in a temporary. In a loop, compute on a copy.
/// Example:  adopt<double, 1>({{DeviceId(0), Box{{0}, {4}}, mine.data(), {1}}}, {8}, rows)
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> adopt(
    std::vector<std::type_identity_t<ShardView<T, N>>> const& shards,
    std::array<std::int64_t, N> const& shape, NamedSharding const& sharding) {
  std::vector<detail::BorrowedBox> raw;
  for (auto const& shard : shards)
    raw.push_back({shard.device(), shard.box(), reinterpret_cast<std::byte*>(shard.data()),
                   Index(shard.strides().begin(), shard.strides().end())});
  return DistArray<T, N>(
      detail::adopt_shards(sharding, Shape(shape), {sizeof(T), alignof(T)}, raw));
}

/// Fixes the addresses of an array's cells from now on: the addresses from `mutable_shards` and
/// `addressable_shards` stay valid until the array's end, for the program's own communication or
/// another library. The cells there are up to date after `synchronize()`.
///
/// Ranks: collective. Cost: as `adopt`.
template <Element T, std::size_t N>
void pin(DistArray<T, N>& u) {
  detail::check_writable(u.storage());
  detail::pin_cells(u.storage());
}

}  // namespace tessera
