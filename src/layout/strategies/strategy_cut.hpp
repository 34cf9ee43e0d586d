#pragma once
/// @file
/// How a strategy cuts one dimension of a weight.

#include <cstddef>
#include <cstdint>

#include "tessera/index/index.hpp"
#include "tessera/layout/cut.hpp"
#include "tessera/layout/strategies.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {

/// A dimension, the mesh axes that cut it, and how.
struct StrategyCut {
  std::size_t dimension;
  SpecEntry axes;
  Cut cut;
};

/// How a strategy that has an axis cuts a weight over the devices along `axes`.
/// Throws: ShapeError if the shape lacks the dimension; ShardingError, with the numbers and a
///         remedy, if it cannot be cut so.
[[nodiscard]] StrategyCut cut_by(Strategy const& strategy, Mesh const& mesh, SpecEntry const& axes,
                                 Shape const& shape);

/// The cells in which `values` values lie; they fill them.
[[nodiscard]] inline std::int64_t packed_cells(std::int64_t values,
                                               strategy::Packed const& packed) {
  return values / packed.values * packed.cells +
         values % packed.values * packed.cells / packed.values;
}

/// True if `values` values fill whole cells.
[[nodiscard]] inline bool fills_cells(std::int64_t values, strategy::Packed const& packed) {
  return values % packed.values * packed.cells % packed.values == 0;
}

}  // namespace tessera
