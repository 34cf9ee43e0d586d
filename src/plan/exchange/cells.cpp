#include "src/plan/exchange/cells.hpp"

#include <algorithm>

#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"

namespace tessera {
namespace {

// The lattice indices whose place, under (first, stride), lies in `box`.
template <class First>
Box lattice_where(Cells const& cells, Box const& box, First const& first) {
  if (box.empty()) return Box::none(cells.lattice.rank());
  Box result = cells.lattice;
  for (std::size_t d = 0; d < cells.axes.size(); ++d) {
    auto const& axis = cells.axes[d];
    auto const origin = first(axis);
    if (axis.stride == 0) {
      if (origin < box.lo[d] || origin >= box.hi[d]) result.hi[d] = result.lo[d];
      continue;
    }
    auto const below = box.lo[d] - origin;
    auto const last = box.hi[d] - 1 - origin;
    auto const up = axis.stride > 0;
    auto const lowest = up ? below : last;
    result.lo[d] = std::max(result.lo[d], ceil_div(lowest, axis.stride));
    result.hi[d] = std::min(result.hi[d], floor_div(up ? last : below, axis.stride) + 1);
  }
  return result;
}

template <class First>
Box hull_where(Cells const& cells, First const& first) {
  Box result{Index(cells.axes.size(), 0), Index(cells.axes.size(), 0)};
  for (std::size_t d = 0; d < cells.axes.size(); ++d) {
    auto const& axis = cells.axes[d];
    auto const a = first(axis) + axis.stride * cells.lattice.lo[d];
    auto const b = first(axis) + axis.stride * (cells.lattice.hi[d] - 1);
    result.lo[d] = std::min(a, b);
    result.hi[d] = std::max(a, b) + 1;
  }
  return result;
}

}  // namespace

std::vector<std::vector<AffinePiece>> all_affine_pieces(Access const& access, Box const& indices) {
  std::vector<std::vector<AffinePiece>> affine_pieces;
  affine_pieces.reserve(access.rank());
  for (std::size_t d = 0; d < access.rank(); ++d)
    affine_pieces.push_back(affine_pieces_of(access, d, indices));
  return affine_pieces;
}

Cells cells_of_choice(Choice const& choice) {
  Cells cells{{{}, {}}, {}};
  for (auto const* const affine_piece : choice) {
    cells.lattice.lo.push_back(affine_piece->lo);
    cells.lattice.hi.push_back(affine_piece->step == 0 ? affine_piece->lo + 1 : affine_piece->hi);
    cells.axes.push_back({affine_piece->cell, affine_piece->step, affine_piece->frame()});
  }
  return cells;
}

bool reads_others(OperandUse const& operand, std::span<WorkBox const> works, DeviceId device) {
  bool const owns_any = operand.owned->mesh().position_of(device).has_value();
  bool found = false;
  for (auto const& work : works) {
    visit_cells(operand.access, work.indices, [&](Cells const& cells, Choice const&) {
      if (found) return;
      auto others = cells.count();
      if (owns_any)
        operand.owned->visit_boxes(device, cells.owned_hull(), [&](std::size_t, Box const& own) {
          others -= cells.lattice_in(own).cells();
        });
      found = others > 0;
    });
    if (found) return true;
  }
  return false;
}

Box Cells::owned_hull() const {
  return hull_where(*this, [](Axis const& axis) { return axis.cell; });
}

Box Cells::frame_hull() const {
  return hull_where(*this, [](Axis const& axis) { return axis.frame; });
}

bool Cells::wraps() const {
  return std::any_of(axes.begin(), axes.end(), [](Axis const& a) { return a.cell != a.frame; });
}

Box Cells::lattice_in(Box const& box) const {
  return lattice_where(*this, box, [](Axis const& axis) { return axis.cell; });
}

Box Cells::lattice_at(Box const& box) const {
  return lattice_where(*this, box, [](Axis const& axis) { return axis.frame; });
}

std::ostream& operator<<(std::ostream& out, Cells const& cells) {
  out << cells.owned_hull();
  for (std::size_t d = 0; d < cells.axes.size(); ++d)
    if (cells.axes[d].stride > 1 || cells.axes[d].stride < 0)
      out << " step " << cells.axes[d].stride << " along " << d;
  if (cells.wraps()) out << " as " << cells.frame_hull();
  return out;
}

}  // namespace tessera
