#pragma once
/// @file
/// How one array is seen from another index space: cell = offset + stride · i, with dimensions
/// permuted, dropped or broadcast.

#include <cstdint>
#include <ostream>

#include "tessera/index/index.hpp"

namespace tessera::detail {

/// How one dimension of the array follows from the index.
struct AxisMap {
  static constexpr int fixed = -1;

  int from = fixed;         ///< the index dimension that moves it; `fixed` if none does
  std::int64_t offset = 0;  ///< the cell at index 0
  std::int64_t stride = 1;  ///< cells per index; not 0. Counts only where `from` is a dimension
  /// Where it is fixed: cells further in each step of the loop that the statement stands in. What
  /// is planned and computed uses `offset`, as it is in one step.
  std::int64_t per_step = 0;

  friend bool operator==(AxisMap const&, AxisMap const&) = default;
};

/// Maps an index space of `rank_in` dimensions to the cells of an array of `rank()` dimensions.
///
/// No dimension of the index space moves two dimensions of the array. A dimension that moves none
/// is broadcast.
struct AffineMap {
  std::size_t rank_in = 0;
  InlineVector<AxisMap, max_rank> axes;

  /// The map of every index to itself.
  [[nodiscard]] static AffineMap identity(std::size_t rank);

  [[nodiscard]] std::size_t rank() const { return axes.size(); }
  /// True if it shows other cells in every step of a loop.
  [[nodiscard]] bool follows_steps() const;
  [[nodiscard]] Index operator()(Index const& i) const;

  /// The smallest box of cells that holds every image of `indices`.
  [[nodiscard]] Box image(Box const& indices) const;
  /// The indices in `within` whose image lies in `cells`; a box, because each dimension moves
  /// alone.
  [[nodiscard]] Box preimage(Box const& cells, Box const& within) const;

  friend bool operator==(AffineMap const&, AffineMap const&) = default;
  /// "(i0 + 1, 2 i1, 5)"
  friend std::ostream& operator<<(std::ostream& out, AffineMap const& map);
};

}  // namespace tessera::detail
