#include "src/plan/access.hpp"

#include <algorithm>
#include <set>

#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"

namespace tessera {
namespace {

// The position in the view at index 0: cell = first + stride * (index + lead).
std::int64_t lead_of(AxisMap const& axis, AxisBoundary const& boundary) {
  auto const distance = axis.offset - boundary.first;
  TESSERA_ASSERT(distance % axis.stride == 0, axis.offset, ' ', boundary.first, ' ', axis.stride);
  return distance / axis.stride;
}

// The mapping from distances past an edge to cells of the view, as pieces of a formula. Distances
// from the edge count up from 0, positions from the cell at the edge.
struct Mirror {
  std::int64_t run;    ///< distances until it turns
  std::int64_t start;  ///< the position at distance 0
  std::int64_t turn;   ///< the position where it turns, at distance `run`

  Mirror(BoundaryKind kind, std::int64_t count)
      : run(kind == BoundaryKind::symmetric ? count : count - 1),
        start(kind == BoundaryKind::symmetric ? 0 : 1),
        turn(kind == BoundaryKind::symmetric ? count - 1 : count - 2) {}
};

// The cells past one edge. Sides differ in sign only: `away` is -1 below and 1 above.
class Beyond {
 public:
  Beyond(BoundaryKind kind, bool is_below, AxisMap const& axis, AxisBoundary const& boundary)
      : kind_(kind), is_below_(is_below), axis_(axis), boundary_(boundary) {}

  // Appends the affine pieces of the indices [lo, hi), all of which lie past this edge.
  void append_to(std::vector<AffinePiece>& result, std::int64_t lo, std::int64_t hi) const {
    if (kind_ == BoundaryKind::constant)
      result.push_back(
          {is_below_ ? AffinePiece::Kind::below : AffinePiece::Kind::above, lo, hi, 0, 0, 0});
    else if (!is_mirror(kind_) || boundary_.count == 1)
      result.push_back({AffinePiece::Kind::cells, lo, hi, cell_at(0), 0, 0});
    else
      append_mirrored(result, lo, hi);
  }

 private:
  // The cell at a position counted from the edge inwards.
  std::int64_t cell_at(std::int64_t position) const {
    return boundary_.first + axis_.stride * (is_below_ ? position : boundary_.count - 1 - position);
  }
  std::int64_t distance_at(std::int64_t index) const {
    auto const place = index + lead_of(axis_, boundary_);
    return is_below_ ? -1 - place : place - boundary_.count;
  }

  void append_mirrored(std::vector<AffinePiece>& result, std::int64_t lo, std::int64_t hi) const {
    Mirror const mirror(kind_, boundary_.count);
    while (lo < hi) {
      auto const distance = distance_at(lo);
      auto const piece = distance / mirror.run;
      auto const inside = distance % mirror.run;
      // Below the view, distances fall while the indices rise.
      auto const end = std::min(hi, lo + (is_below_ ? inside + 1 : mirror.run - inside));
      bool const inwards = piece % 2 == 0;  // going away from the edge, positions rise
      auto const position = inwards ? mirror.start + inside : mirror.turn - inside;
      // Two reversals: positions against the edge, and cells against positions.
      auto const step = inwards ? -axis_.stride : axis_.stride;
      result.push_back({AffinePiece::Kind::cells, lo, end, cell_at(position) - step * lo, step, 0});
      lo = end;
    }
  }

  BoundaryKind kind_;
  bool is_below_;
  AxisMap const& axis_;
  AxisBoundary const& boundary_;
};

std::vector<AffinePiece> periodic_pieces(AxisMap const& axis, AxisBoundary const& boundary,
                                         std::int64_t lo, std::int64_t hi) {
  std::vector<AffinePiece> result;
  auto const lead = lead_of(axis, boundary);
  auto const period = boundary.count;
  for (auto image = floor_div(lo + lead, period); lo < hi; ++image) {
    auto const end = std::min(hi, (image + 1) * period - lead);
    auto const wrap = -image * period * axis.stride;
    result.push_back({AffinePiece::Kind::cells, lo, end, axis.offset + wrap, axis.stride, wrap});
    lo = end;
  }
  return result;
}

// True if the cells read along one dimension and those written along it have none in common.
bool apart(Access const& access, AffineMap const& written, std::size_t d, Box const& indices) {
  auto const& write = written.axes[d];
  bool const moved = write.from != AxisMap::fixed;
  auto const from = static_cast<std::size_t>(moved ? write.from : 0);
  auto const first = write.offset + (moved ? write.stride * indices.lo[from] : 0);
  auto const count = moved ? indices.hi[from] - indices.lo[from] : 1;
  auto const stride = moved ? write.stride : 1;
  auto const affine_pieces = affine_pieces_of(access, d, indices);
  return std::none_of(
      affine_pieces.begin(), affine_pieces.end(), [&](AffinePiece const& affine_piece) {
        if (affine_piece.constant()) return false;
        bool const steps = affine_piece.step != 0;
        return ranges_intersect(
            affine_piece.cell + affine_piece.step * affine_piece.lo, steps ? affine_piece.step : 1,
            steps ? affine_piece.hi - affine_piece.lo : 1, first, stride, count);
      });
}

// Along each dimension of a statement: its ends, and where one of the accesses changes its formula.
std::vector<std::vector<std::int64_t>> borders(std::span<Access const> accesses,
                                               Box const& indices) {
  std::vector<std::set<std::int64_t>> sets(indices.rank());
  for (std::size_t d = 0; d < indices.rank(); ++d) sets[d] = {indices.lo[d], indices.hi[d]};
  for (auto const& access : accesses)
    for (std::size_t d = 0; d < access.rank(); ++d) {
      auto const& axis = access.map.axes[d];
      // Periodic images are adjacent in the reader's frame: there is no border.
      if (axis.from == AxisMap::fixed || access.boundaries[d].below == BoundaryKind::periodic)
        continue;
      for (auto const& affine_piece : affine_pieces_of(access, d, indices)) {
        sets[static_cast<std::size_t>(axis.from)].insert(affine_piece.lo);
        sets[static_cast<std::size_t>(axis.from)].insert(affine_piece.hi);
      }
    }
  std::vector<std::vector<std::int64_t>> result;
  for (auto const& set : sets) result.emplace_back(set.begin(), set.end());
  return result;
}

}  // namespace

namespace detail {

char const* to_string(BoundaryKind kind) {
  switch (kind) {
    case BoundaryKind::absent:
      return "absent";
    case BoundaryKind::periodic:
      return "periodic";
    case BoundaryKind::constant:
      return "constant";
    case BoundaryKind::edge:
      return "edge";
    case BoundaryKind::reflect:
      return "reflect";
    case BoundaryKind::symmetric:
      return "symmetric";
  }
  return "?";
}

Access Access::plain(AffineMap map) {
  auto const rank = map.rank();
  return {map, InlineVector<AxisBoundary, max_rank>(rank, AxisBoundary{})};
}

bool Access::has_boundaries() const {
  return std::any_of(boundaries.begin(), boundaries.end(),
                     [](AxisBoundary const& b) { return b.any(); });
}

std::uint64_t Access::fingerprint() const {
  auto hash = mix(map.rank_in, map.rank());
  auto const add = [&](auto value) { hash = mix(hash, static_cast<std::uint64_t>(value)); };
  for (std::size_t d = 0; d < rank(); ++d) {
    add(map.axes[d].from);
    add(map.axes[d].offset);
    add(map.axes[d].stride);
    auto const& boundary = boundaries[d];
    if (!boundary.any()) continue;
    add(static_cast<int>(boundary.below) * 8 + static_cast<int>(boundary.above));
    add(boundary.first);
    add(boundary.count);
    add(boundary.dimension);
  }
  return hash;
}

std::ostream& operator<<(std::ostream& out, Access const& access) {
  out << access.map;
  for (std::size_t d = 0; d < access.rank(); ++d) {
    auto const& boundary = access.boundaries[d];
    if (!boundary.any()) continue;
    out << ", dimension " << d << ' ' << to_string(boundary.below);
    if (boundary.above != boundary.below) out << '/' << to_string(boundary.above);
  }
  return out;
}

}  // namespace detail

std::vector<AffinePiece> affine_pieces_of(Access const& access, std::size_t d, Box const& indices) {
  auto const& axis = access.map.axes[d];
  auto const& boundary = access.boundaries[d];
  if (indices.empty()) return {};
  if (axis.from == AxisMap::fixed) return {{AffinePiece::Kind::cells, 0, 1, axis.offset, 0, 0}};
  auto const lo = indices.lo[static_cast<std::size_t>(axis.from)];
  auto const hi = indices.hi[static_cast<std::size_t>(axis.from)];
  if (!boundary.any()) return {{AffinePiece::Kind::cells, lo, hi, axis.offset, axis.stride, 0}};
  if (boundary.below == BoundaryKind::periodic) return periodic_pieces(axis, boundary, lo, hi);
  std::vector<AffinePiece> result;
  auto const lead = lead_of(axis, boundary);
  auto const inside_lo = std::clamp(-lead, lo, hi);
  auto const inside_hi = std::clamp(boundary.count - lead, inside_lo, hi);
  if (lo < inside_lo) Beyond(boundary.below, true, axis, boundary).append_to(result, lo, inside_lo);
  if (inside_lo < inside_hi)
    result.push_back({AffinePiece::Kind::cells, inside_lo, inside_hi, axis.offset, axis.stride, 0});
  if (inside_hi < hi)
    Beyond(boundary.above, false, axis, boundary).append_to(result, inside_hi, hi);
  return result;
}

bool could_read_overwritten(Access const& access, AffineMap const& written, Box const& indices) {
  if (indices.empty()) return false;
  if (!access.has_boundaries() && access.map == written) return false;
  for (std::size_t d = 0; d < access.rank(); ++d)
    if (apart(access, written, d, indices)) return false;
  return true;
}

OperandFormula formula_over(Access const& access, Box const& box) {
  OperandFormula formula;
  std::size_t deciding = 0;
  for (std::size_t d = 0; d < access.rank(); ++d) {
    auto const affine_pieces = affine_pieces_of(access, d, box);
    TESSERA_ASSERT(!affine_pieces.empty(), access, " over ", box);
    auto const& in = affine_pieces.front();
    formula.affine_pieces.push_back(in);
    if (!in.constant() || access.boundaries[d].dimension < deciding) continue;
    deciding = access.boundaries[d].dimension;
    formula.constant =
        2 * static_cast<std::int64_t>(d) + (in.kind == AffinePiece::Kind::above ? 1 : 0);
  }
  return formula;
}

std::vector<Box> boxes_of_one_formula(std::span<Access const> accesses, Box const& indices) {
  auto const all = borders(accesses, indices);
  auto const rank = indices.rank();
  std::vector<Box> boxes;
  InlineVector<std::size_t, max_rank> at(rank, 0);
  for (;;) {
    Box box{indices.lo, indices.hi};
    for (std::size_t d = 0; d < rank; ++d) {
      box.lo[d] = all[d][at[d]];
      box.hi[d] = all[d][at[d] + 1];
    }
    boxes.push_back(box);
    std::size_t d = rank;
    while (d-- > 0) {
      if (++at[d] + 1 < all[d].size()) break;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return boxes;
  }
}

}  // namespace tessera
