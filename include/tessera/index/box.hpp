#pragma once
/// @file
/// Boxes of cells, half-open along each dimension.

#include <ostream>

#include "tessera/index/index.hpp"

namespace tessera {

/// The cells i with lo[d] <= i[d] < hi[d] in every dimension d. With no dimensions: one cell,
/// unless the box is `nothing`.
struct Box {
  Index lo;
  Index hi;
  /// Makes a box empty that has no dimension to be empty along. False in every other box.
  bool nothing = false;

  /// The empty box; never one of no dimensions that holds the one cell.
  [[nodiscard]] static Box none(std::size_t rank) {
    return {Index(rank, 0), Index(rank, 0), rank == 0};
  }

  [[nodiscard]] std::size_t rank() const { return lo.size(); }
  [[nodiscard]] bool empty() const;
  /// The cells along dimension d.
  [[nodiscard]] std::int64_t extent(std::size_t d) const {
    return hi[d] > lo[d] ? hi[d] - lo[d] : 0;
  }
  [[nodiscard]] Shape extents() const;
  [[nodiscard]] std::int64_t cells() const;
  [[nodiscard]] bool contains(Index const& cell) const;
  /// True if every cell of `other` is in this box; an empty box is in every box.
  [[nodiscard]] bool contains(Box const& other) const;
  /// The box moved by `by` cells along each dimension.
  [[nodiscard]] Box shifted(Index const& by) const;

  /// Equal as sets of cells: all empty boxes of one rank are equal.
  friend bool operator==(Box const& a, Box const& b);
  /// "[0:4, 2:8]"; "[nothing]" for the empty box of no dimensions.
  friend std::ostream& operator<<(std::ostream& out, Box const& box);
};

/// All cells of an array.
[[nodiscard]] Box whole(Shape const& shape);
/// The cells in both.
[[nodiscard]] Box intersect(Box const& a, Box const& b);
/// True if a cell is in both.
[[nodiscard]] bool intersects(Box const& a, Box const& b);
/// The smallest box that holds both; an empty box adds nothing.
[[nodiscard]] Box hull(Box const& a, Box const& b);
/// The box grown by `below[d]` and `above[d]` cells along each dimension d.
[[nodiscard]] Box grown(Box const& box, Index const& below, Index const& above);

}  // namespace tessera
