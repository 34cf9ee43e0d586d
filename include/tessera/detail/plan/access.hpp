#pragma once
/// @file
/// How a statement sees an array: an affine map, and the boundaries past the edges of the view.

#include <cstdint>
#include <ostream>

#include "tessera/detail/index/affine_map.hpp"

namespace tessera::detail {

/// The rule for a neighbour's value past an edge.
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
  /// The dimension of the view. If an index is past constant edges of several dimensions, the last
  /// one decides, as in numpy.pad.
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

}  // namespace tessera::detail
