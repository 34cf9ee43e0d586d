#pragma once
/// @file
/// How a statement sees an array: an affine map, and what lies beyond the edges of the view.

#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "tessera/index/affine_map.hpp"

namespace tessera {

/// What a neighbour's value is where there is no neighbour.
enum class BoundaryKind : std::uint8_t {
  absent,    ///< never read: the view is as large as the statement
  periodic,  ///< the other end
  constant,  ///< a given value
  edge,      ///< the value of the last cell
  reflect,   ///< the cells in front of the last one, backwards: of a b c, after c come b a b c
  symmetric  ///< the last cells, backwards: of a b c, after c come c b a a b c
};
/// True if cells are read backwards past the edge.
[[nodiscard]] constexpr bool is_mirror(BoundaryKind kind) {
  return kind == BoundaryKind::reflect || kind == BoundaryKind::symmetric;
}
[[nodiscard]] char const* to_string(BoundaryKind kind);

/// The two ends of one dimension of a view, whose cells are first + stride · j for 0 <= j < count.
/// Below and above are those of j.
struct AxisBoundary {
  BoundaryKind below = BoundaryKind::absent;
  BoundaryKind above = BoundaryKind::absent;
  std::int64_t first = 0;
  std::int64_t count = 0;
  /// Of the view. Where several dimensions are past constant edges, the last one decides, as in
  /// numpy.pad.
  std::size_t dimension = 0;

  [[nodiscard]] bool any() const {
    return below != BoundaryKind::absent || above != BoundaryKind::absent;
  }
  friend bool operator==(AxisBoundary const&, AxisBoundary const&) = default;
};

/// How a statement sees one array. `map` gives unwrapped cells: past an edge they lie outside the
/// view.
struct Access {
  AffineMap map;
  InlineVector<AxisBoundary, max_rank> boundaries;  ///< one per dimension of the array

  /// The access without boundaries.
  [[nodiscard]] static Access plain(AffineMap map);

  [[nodiscard]] std::size_t rank() const { return map.rank(); }
  [[nodiscard]] bool has_boundaries() const;
  [[nodiscard]] std::uint64_t fingerprint() const;
  friend bool operator==(Access const&, Access const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Access const& access);
};

/// A stretch of a statement's indices along one dimension of the array, over which the access is
/// one formula: index i reads cell `cell` + `step` · i.
struct Stretch {
  enum class Kind : std::uint8_t {
    cells,
    below,  ///< the constant below the view
    above   ///< the constant above it
  };
  Kind kind = Kind::cells;
  std::int64_t lo =
      0;  ///< indices [lo, hi) of the dimension that moves this one; [0, 1) if none does
  std::int64_t hi = 1;
  std::int64_t cell = 0;
  std::int64_t step = 0;  ///< 0: always the same cell
  std::int64_t wrap = 0;  ///< of a periodic image: how far its cells are moved, whole periods

  [[nodiscard]] bool constant() const { return kind != Kind::cells; }
  /// The first cell's place in the unwrapped array, where the reader looks for it.
  [[nodiscard]] std::int64_t frame() const { return cell - wrap; }
  friend bool operator==(Stretch const&, Stretch const&) = default;
};

/// The stretches of array dimension `d` over the statement's indices `indices`, in rising order.
/// Shapes: `indices` is a box of the map's index space.
[[nodiscard]] std::vector<Stretch> stretches_of(Access const& access, std::size_t d,
                                                Box const& indices);

/// Calls `visit(choice)` for each combination of one stretch per dimension, the last varying
/// fastest.
template <class Visit>
void visit_combinations(std::vector<std::vector<Stretch>> const& stretches, Visit const& visit) {
  InlineVector<Stretch const*, max_rank> choice;
  InlineVector<std::size_t, max_rank> at(stretches.size(), 0);
  for (auto const& list : stretches) {
    if (list.empty()) return;
    choice.push_back(list.data());
  }
  for (;;) {
    visit(choice);
    std::size_t d = stretches.size();
    while (d-- > 0) {
      if (++at[d] < stretches[d].size()) break;
      at[d] = 0;
      choice[d] = stretches[d].data();
    }
    if (d == static_cast<std::size_t>(-1)) return;
    choice[d] = &stretches[d][at[d]];
  }
}

/// How a statement reads one array over a box of its indices on which that is one formula.
struct LeafFormula {
  /// Per dimension of the array; periodic images are not told apart, since they lie side by side
  /// where the reader looks for them.
  InlineVector<Stretch, max_rank> stretches;
  /// Past a constant edge: which of the access's constants, 2 d below and 2 d + 1 above dimension
  /// d; -1 of cells.
  std::int64_t constant = -1;
};

/// The formula of an access over a box that is one of `boxes_of_one_formula`, or a part of one.
[[nodiscard]] LeafFormula formula_over(Access const& access, Box const& box);

/// Cuts a statement's indices into boxes over which each of the accesses is one formula, in
/// row-major order.
[[nodiscard]] std::vector<Box> boxes_of_one_formula(std::span<Access const> accesses,
                                                    Box const& indices);

/// True if a statement that writes `written` over `indices` in place could overwrite a cell that it
/// has yet to read through `access` of the same array.
[[nodiscard]] bool could_read_overwritten(Access const& access, AffineMap const& written,
                                          Box const& indices);

}  // namespace tessera
