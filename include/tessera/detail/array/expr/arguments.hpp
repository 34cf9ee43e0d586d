#pragma once
/// @file
/// Checks of arguments that name dimensions, and of offsets and boundaries along them.

#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/detail/plan/access.hpp"

namespace tessera::detail {

/// A set of dimensions: bit d for dimension d.
using DimensionSet = std::uint32_t;
[[nodiscard]] constexpr bool has_dimension(DimensionSet set, std::size_t d) {
  return ((set >> d) & 1U) != 0;
}

/// Throws: ShapeError if there is no such axis. Negative ones count from the end.
[[nodiscard]] std::size_t resolve_axis(std::int64_t axis, std::size_t rank);
/// Throws: ShapeError if a dimension does not exist or is named twice.
[[nodiscard]] DimensionSet resolve_axes(std::span<std::int64_t const> numbers, std::size_t rank);

/// The dimensions that `axes` names, in that order, into the first places of `dimensions`; returns
/// how many. Negative axes count from the end.
/// Throws: ShapeError if there is no such axis, or one is named twice.
std::size_t resolve_axes(std::span<std::int64_t const> axes, std::size_t rank,
                         std::span<std::size_t> dimensions);
/// The same where all dimensions have to be named.
void resolve_order(std::span<std::int64_t const> axes, std::span<std::size_t> dimensions);

/// Throws: UsageError where only one side is periodic.
void check_boundaries(BoundaryKind below, BoundaryKind above, std::size_t dimension);
/// Throws: UsageError if the index of a cell that far away would overflow.
void check_offset(std::int64_t offset, std::size_t dimension);
/// Throws: ShapeError if the numbers of offsets or boundaries are not the array's dimensions.
void check_counts(std::size_t rank, std::size_t offsets, std::size_t boundaries);

}  // namespace tessera::detail
