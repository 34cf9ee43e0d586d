#pragma once
/// @file
/// Sets of cells as a short list of disjoint boxes.

#include <ostream>
#include <vector>

#include "src/index/box.hpp"

namespace tessera {

/// Disjoint, non-empty boxes. Their order depends only on the operations that made the region, so
/// it is the same on every process that applied the same operations.
class Region {
 public:
  Region() = default;
  explicit Region(Box const& box) { add(box); }

  [[nodiscard]] std::vector<Box> const& boxes() const { return boxes_; }
  [[nodiscard]] bool empty() const { return boxes_.empty(); }
  [[nodiscard]] std::int64_t cells() const;
  /// True if every cell of the box is in the region.
  [[nodiscard]] bool contains(Box const& box) const;
  /// The smallest box around all; the empty box of no dimensions if the region is empty.
  [[nodiscard]] Box hull() const;

  /// Adds the cells of `box` that are not in the region yet.
  void add(Box const& box);
  /// Removes the cells of `box`.
  void subtract(Box const& box);
  /// Keeps only the cells of `box`.
  void cut_to(Box const& box);

  friend std::ostream& operator<<(std::ostream& out, Region const& region);

 private:
  std::vector<Box> boxes_;
};

/// The cells of `a` that are not in `b`, as at most two boxes per dimension, appended to `into`.
void append_difference(Box const& a, Box const& b, std::vector<Box>& into);

}  // namespace tessera
