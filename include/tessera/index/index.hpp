#pragma once
/// @file
/// Cells and shapes: up to eight whole numbers, in place. And boxes of cells.

#include <cstdint>
#include <ostream>

#include "tessera/detail/base/inline_vector.hpp"

namespace tessera {

/// The most dimensions an array may have.
inline constexpr std::size_t max_rank = 8;

/// One number per dimension: a cell, a shift or a list of extents.
using Index = detail::InlineVector<std::int64_t, max_rank>;

/// The extents of an array; each zero or more.
using Shape = Index;

/// How many cells a shape has: 1 for no dimensions, 0 if any extent is 0.
[[nodiscard]] std::int64_t cells_of(Shape const& shape);

/// a modulo b with the sign of b, which is not 0: the remainder of Python.
[[nodiscard]] constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  auto const remainder = a % b;
  return remainder != 0 && (a < 0) != (b < 0) ? remainder + b : remainder;
}

/// The cells i with lo[d] <= i[d] < hi[d] in every dimension d. With no dimensions: one cell,
/// unless the box is `nothing`.
struct Box {
  Index lo;
  Index hi;
  /// Marks a box without dimensions as empty. False in every other box.
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

}  // namespace tessera
