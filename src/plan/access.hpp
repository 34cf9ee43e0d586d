#pragma once
/// @file
/// What an access reads over a box of indices: one formula on each of a few boxes.

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/detail/plan/access.hpp"

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"

namespace tessera {

using detail::Access;
using detail::AxisBoundary;
using detail::BoundaryKind;
using detail::is_mirror;

/// An affine piece: a range of a statement's indices along one dimension of the array over which
/// the access is one formula. Index i reads cell `cell` + `step` · i.
struct AffinePiece {
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
  std::int64_t wrap = 0;  ///< of a periodic image: the shift of its cells, whole periods

  [[nodiscard]] bool constant() const { return kind != Kind::cells; }
  /// The first cell's position in the unwrapped array, where the reader expects it.
  [[nodiscard]] std::int64_t frame() const { return cell - wrap; }
  friend bool operator==(AffinePiece const&, AffinePiece const&) = default;
};

/// The affine pieces of array dimension `d` over the statement's indices `indices`, in rising
/// order.
/// Shapes: `indices` is a box of the map's index space.
[[nodiscard]] std::vector<AffinePiece> affine_pieces_of(Access const& access, std::size_t d,
                                                        Box const& indices);

/// Calls `visit(choice)` for each combination of one affine piece per dimension, the last varying
/// fastest.
template <class Visit>
void visit_combinations(std::vector<std::vector<AffinePiece>> const& affine_pieces,
                        Visit const& visit) {
  InlineVector<AffinePiece const*, max_rank> choice;
  InlineVector<std::size_t, max_rank> at(affine_pieces.size(), 0);
  for (auto const& list : affine_pieces) {
    if (list.empty()) return;
    choice.push_back(list.data());
  }
  for (;;) {
    visit(choice);
    std::size_t d = affine_pieces.size();
    while (d-- > 0) {
      if (++at[d] < affine_pieces[d].size()) break;
      at[d] = 0;
      choice[d] = affine_pieces[d].data();
    }
    if (d == static_cast<std::size_t>(-1)) return;
    choice[d] = &affine_pieces[d][at[d]];
  }
}

/// The formula by which a statement reads one array over a box of indices.
struct OperandFormula {
  /// Per dimension of the array. Periodic images are not distinguished, since they are adjacent
  /// where the reader expects them.
  InlineVector<AffinePiece, max_rank> affine_pieces;
  /// Past a constant edge: the number of the access's constant, 2 d below and 2 d + 1 above
  /// dimension d; -1 for cells.
  std::int64_t constant = -1;
};

/// The formula of an access over a box that is one of `boxes_of_one_formula`, or a part of one.
[[nodiscard]] OperandFormula formula_over(Access const& access, Box const& box);

/// Cuts a statement's indices into boxes over which each of the accesses is one formula, in
/// row-major order.
[[nodiscard]] std::vector<Box> boxes_of_one_formula(std::span<Access const> accesses,
                                                    Box const& indices);

/// True if a statement that writes `written` over `indices` in place could overwrite a cell that it
/// has yet to read through `access` of the same array.
[[nodiscard]] bool could_read_overwritten(Access const& access, AffineMap const& written,
                                          Box const& indices);

}  // namespace tessera
