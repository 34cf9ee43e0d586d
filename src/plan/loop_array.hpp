#pragma once
/// @file
/// How the arrays of a loop lie beside each other on every device.

#include <optional>

#include "src/index/index.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// An array of a loop. Cell i of one array lies at cell i of another, whatever their shapes. A
/// device's boxes of two arrays may end at different cells, as on staggered grids; so one array is
/// the reference, and its boxes measure those of the others. Every number is the largest over all
/// devices; a negative one says that all fall short by that. Along a dimension that is not cut for
/// this array every device has all its cells, and the numbers are 0.
struct LoopArray {
  Shape shape;
  GhostWidths beyond;    ///< by how many cells a box reaches beyond that of the reference
  GhostWidths short_of;  ///< by how many cells it ends before
  /// Every device has all its cells, no statement writes any, and they lie beside no other array's:
  /// its rank and shape are its own.
  bool is_table = false;
};

/// An array that lies as the reference does.
[[nodiscard]] LoopArray reference_array(Shape const& shape);
[[nodiscard]] LoopArray table_array(Shape const& shape);
/// True if every device of the mesh has all cells.
[[nodiscard]] bool is_whole(Layout const& layout);

/// Returns nothing if no bound holds for all devices: if the two are cut by other mesh axes or
/// other rules, unless every device has all cells of `layout`; or if a device may have cells of one
/// and none of the other.
///
/// Ranks: pure, and the same on every process.
/// Cost:  O(1); O(log) for lists of cells.
///
/// Example: 8 cells cut 4 ways begin at 0 2 4 6, and 9 cells at 0 3 5 7. Where 8 cells are the
/// reference, 9 cells reach beyond by 0 below and 1 above, and end before by 1 below and -1 above.
[[nodiscard]] std::optional<LoopArray> loop_array(Layout const& layout, Layout const& reference);

}  // namespace tessera
