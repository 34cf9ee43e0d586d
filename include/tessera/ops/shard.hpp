#pragma once
/// @file
/// Pieces of weights as strategies cut them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <source_location>
#include <vector>

#include "tessera/array/creation.hpp"
#include "tessera/layout/strategies.hpp"
#include "tessera/ops/shape.hpp"

namespace tessera {
namespace detail {

/// The parts of one dimension that a device has, in order.
struct DevicePieces {
  std::size_t dimension = 0;
  std::vector<Piece> pieces;
};
/// What device number `device` of those that the strategy was made for has of `shape`.
[[nodiscard]] DevicePieces pieces_of(Strategy const& strategy, Shape const& shape,
                                     std::int64_t device);

/// The extents and the layout of `shard_and_stack`.
[[nodiscard]] Layout layout_of_stack(std::vector<Shape> const& shapes, Mesh const& mesh,
                                     SpecEntry const& axes, std::int64_t axis);

/// shard_and_stack; each(f) calls f for each of the weights, which are of N dimensions.
template <Element T, std::size_t N, class Each>
[[nodiscard]] DistArray<T, N + 1> stacked_shards(Axis axis, Mesh const& mesh, SpecEntry const& axes,
                                                 Each const& each) {
  std::vector<Shape> shapes;
  each([&](auto const& part) { shapes.push_back(shape_of(part)); });
  auto const layout = layout_of_stack(shapes, mesh, axes, axis.number);
  DistArray<T, N + 1> result(layout.shape(), layout.sharding());
  std::int64_t next = 0;
  each([&](auto const& part) { layer(result.view(axis.location), 0, next++) = part; });
  return result;
}

}  // namespace detail

/// The piece of a weight that one device has under a strategy, as an array of its own; pieces of
/// several parts, such as a gate and an up projection, follow each other.
///
/// device:  its number among those that the strategy was made for, 0 to num_devices - 1.
/// Ranks:   collective: one statement per part.
/// Throws:  ShardingError if the strategy names no number of devices, or as Strategy::on for that
///          many devices along one mesh axis; IndexError if there is no such device.
/// Cost:    the result lies as `u`; each device is sent the cells it lacks. To give every device
///          its piece, use `reshard(u, strategy.on(mesh, axes, shape))`.
/// Example: shard(w, strategy::gate_up({.num_devices = 4}), 3)
template <Element T, std::size_t N>
requires(N >= 1)
    [[nodiscard]] DistArray<T, N> shard(DistArray<T, N> const& u, Strategy const& strategy,
                                        std::int64_t device,
                                        std::source_location at = std::source_location::current()) {
  auto const found = detail::pieces_of(strategy, u.shape(), device);
  auto const whole = u.view(at);
  std::vector<decltype(detail::narrowed(whole, 0, {}))> parts;
  for (auto const& piece : found.pieces)
    parts.push_back(detail::narrowed(whole, found.dimension, {piece.lo, 1, piece.size()}));
  return concatenate(Axis(static_cast<std::int64_t>(found.dimension), at), parts);
}

/// Weights of one shape side by side, such as those of several experts: dimension 0 of the result
/// counts them, and the devices along `axes` have equal pieces of dimension `axis` of each. Given
/// one by one, or as a vector or a span.
///
/// axis:    a dimension of a weight; negative ones count from the end.
/// Ranks:   collective: one statement per weight.
/// Throws:  ShapeError if the shapes differ, there are no weights, or no such dimension;
///          ShardingError if the extent does not divide, or as NamedSharding.
/// Example: shard_and_stack(0, mesh, "model", a, b), where a and b are (10, 3), is (2, 10, 3). Of 2
///          devices, the first has rows 0 to 4 of both.
template <Expression A, Expression... B>
requires((A::rank == B::rank) && ...)
    [[nodiscard]] auto shard_and_stack(Axis axis, Mesh const& mesh, SpecEntry const& axes,
                                       A const& a, B const&... b) {
  return detail::stacked_shards<detail::element_of_all<A, B...>, A::rank>(axis, mesh, axes,
                                                                          [&](auto const& f) {
                                                                            f(a);
                                                                            (f(b), ...);
                                                                          });
}
template <detail::RangeOfExpressions Parts>
[[nodiscard]] auto shard_and_stack(Axis axis, Mesh const& mesh, SpecEntry const& axes,
                                   Parts const& weights) {
  using E = std::ranges::range_value_t<Parts const>;
  return detail::stacked_shards<typename E::value_type, E::rank>(
      axis, mesh, axes, [&](auto const& f) { std::ranges::for_each(weights, f); });
}

}  // namespace tessera
