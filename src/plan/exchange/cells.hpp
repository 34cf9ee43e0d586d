#pragma once
/// @file
/// The cells that a statement reads of an array: boxes with a step.

#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <vector>

#include "src/base/detail.hpp"
#include "src/index/box.hpp"
#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// Cells of an array as a statement reads them: index l of the box `lattice` (one dimension per
/// dimension of the array) is array cell cell + stride · l, and lies at frame + stride · l where
/// the reader looks for it, which differs by a multiple of the period where the read wraps around.
struct Cells {
  /// One dimension of the array.
  struct Axis {
    std::int64_t cell = 0;
    std::int64_t stride = 1;
    std::int64_t frame = 0;
    friend bool operator==(Axis const&, Axis const&) = default;
  };
  Box lattice;
  InlineVector<Axis, max_rank> axes;

  [[nodiscard]] std::int64_t count() const { return lattice.cells(); }
  /// The smallest box of array cells around all.
  [[nodiscard]] Box owned_hull() const;
  /// The smallest box around all positions where the reader expects the cells.
  [[nodiscard]] Box frame_hull() const;
  [[nodiscard]] bool wraps() const;
  /// The part of the lattice whose array cells lie in `box`.
  [[nodiscard]] Box lattice_in(Box const& box) const;
  /// The part of the lattice that the reader expects in `box`.
  [[nodiscard]] Box lattice_at(Box const& box) const;
  /// Returns the same axes with another lattice box.
  [[nodiscard]] Cells with_lattice(Box const& box) const { return {box, axes}; }

  friend bool operator==(Cells const&, Cells const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Cells const& cells);
};

/// One array that a statement reads.
struct OperandUse {
  std::shared_ptr<Layout const> owned;
  Access access;
  /// Equal for operands of one array, which share ghost cells: in a statement, the number of the
  /// first of them.
  std::size_t array = 0;
  /// True: read in place, with missing cells in ghost cells; false: a device assembles the cells
  /// that it needs in temporaries.
  bool in_place = true;
  /// The ghost cells that are still valid; none for a temporary.
  HaloValidity const* validity = nullptr;
  /// The statement could overwrite cells that it has yet to read by this operand.
  bool is_overwritten = false;
  /// The cells are put straight into the target, without a temporary.
  bool lands = false;
  std::int64_t element_bytes = 1;
};

/// True if some cells that an operand reads for these work boxes are other devices'.
[[nodiscard]] bool reads_others(OperandUse const& operand, std::span<WorkBox const> works,
                                DeviceId device);

/// One affine piece for each dimension of an array.
using Choice = InlineVector<AffinePiece const*, max_rank>;

/// The affine pieces of each dimension of the array.
[[nodiscard]] std::vector<std::vector<AffinePiece>> all_affine_pieces(Access const& access,
                                                                      Box const& indices);

/// The cells of one combination of affine pieces. A piece of one repeated cell counts at its first
/// index.
[[nodiscard]] Cells cells_of_choice(Choice const& choice);

/// Calls `visit(cells, choice)` for each combination of affine pieces that are cells, not
/// constants.
template <class Visit>
void visit_cells(Access const& access, Box const& indices, Visit const& visit) {
  visit_combinations(all_affine_pieces(access, indices), [&](Choice const& choice) {
    for (auto const* const affine_piece : choice)
      if (affine_piece->constant()) return;
    visit(cells_of_choice(choice), choice);
  });
}

}  // namespace tessera
