#pragma once
/// @file
/// Custom functions and kernels on the cells that each device holds, and arrays from the pieces
/// that each process has.

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/shard_view.hpp"

namespace tessera {

/// Calls f(view) for each device of this process that belongs to the array's mesh, with a
/// ShardView<T const, N> of its cells, which may be empty. A device that holds several boxes gets
/// one call for each, in turn. Each copy of the cells is shown.
///
/// Cells of a GPU are copied to the host, and copied back if they may be written. Waits for the
/// statements so far. `f` runs on all devices' workers at the same time, so it must be thread-safe;
/// it has finished everywhere when this returns. It must not call Tessera.
/// Ranks:  local.
/// Throws: what `f` throws, after it has ended on the other devices; the other processes, if any,
///         then end with PeerFailed.
template <Element T, std::size_t N, class F>
void for_each_shard(DistArray<T, N> const& u, F const& f) {
  detail::read_shards(u.readable(),
                      [&](detail::RawShard const& raw) { f(ShardView<T const, N>(raw)); });
}

/// The same with a ShardView<T, N>, whose cells may be written. Where devices hold copies, `f` must
/// write the same values into each copy. Counts as a write of all cells: ghost cells are filled
/// again when they are read. To read only, pass std::as_const(u).
/// Ranks: collective.
template <Element T, std::size_t N, class F>
void for_each_shard(DistArray<T, N>& u, F const& f) {
  detail::check_writable(u.storage());
  detail::change_shards(u.readable(),
                        [&](detail::RawShard const& raw) { f(ShardView<T, N>(raw)); });
}

/// A box of an array's cells that this process has, row-major and without gaps.
///
/// Lifetime: the caller owns the cells; they are read until from_local returns.
template <Element T>
struct LocalPiece {
  Box box;
  std::span<T const> cells;
};

/// An array made of the pieces that each process has of it; no process needs more than its own
/// devices hold, and nothing is sent.
///
/// Shapes:  the pieces of a process lie inside the boxes of its devices and cover each cell of them
///          once; one piece may belong to several devices.
/// Ranks:   collective.
/// Throws:  ShapeError on every process alike if the pieces of one overlap, leave out a cell, hold
///          cells of devices elsewhere, or have another number of cells than their box.
/// Cost:    checking takes the square of the number of pieces: a few large ones are best.
/// Example: each process reads its rows of a file, and passes them.
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> from_local(
    std::vector<std::type_identity_t<LocalPiece<T>>> const& pieces,
    std::array<std::int64_t, N> const& shape, NamedSharding const& sharding) {
  DistArray<T, N> result(Shape(shape), sharding);
  std::vector<detail::RawPiece> raw;
  for (auto const& piece : pieces)
    raw.push_back({piece.box, reinterpret_cast<std::byte const*>(piece.cells.data()),
                   std::ssize(piece.cells)});
  detail::take_from_pieces(result.storage(), raw);
  return result;
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> from_local(
    std::vector<std::type_identity_t<LocalPiece<T>>> const& pieces, std::int64_t const (&shape)[N],
    NamedSharding const& sharding) {
  return from_local<T, N>(pieces, std::to_array(shape), sharding);
}

}  // namespace tessera
