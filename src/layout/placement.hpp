#pragma once
/// @file
/// Where the result of an operation is placed: as the operands that it follows.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/layout/cut.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/layout/named_sharding.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

#include "src/mesh/axes.hpp"

namespace tessera {

/// How one dimension of an array is placed: the mesh axes that cut it, and by which rule.
struct PlacedDimension {
  SpecEntry axes = none;
  Cut cut = Cut::balanced();
};
using PlacedDimensions = std::vector<PlacedDimension>;

/// How the dimensions of an array with this sharding are placed. Its partial axes are not among
/// them.
[[nodiscard]] PlacedDimensions placed_dimensions(NamedSharding const& sharding);
/// The sharding of an array whose dimensions are placed so.
[[nodiscard]] NamedSharding sharding_of(Mesh const& mesh, PlacedDimensions const& dimensions);

/// True if the rule can cut any number of cells: it lists no sizes and is not strict.
[[nodiscard]] bool fits_every_extent(Cut const& cut);

/// True if the rule can cut an extent in so many ways: always, unless it is strict or lists cells.
[[nodiscard]] bool fits(Cut const& cut, std::int64_t extent, std::int64_t ways);

/// The rule for results: a dimension of `extent` cells that follows dimension `d` of an array has
/// its mesh axes but those in `used`, and its cut. If that cut does not fit every extent, and axes
/// or extent differ, the dimension is cut balanced.
[[nodiscard]] PlacedDimension placed_like(Layout const& layout, std::size_t d, std::int64_t extent,
                                          AxisNames const& used = {});

}  // namespace tessera
