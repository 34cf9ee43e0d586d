#include "src/statement/lowering/plan_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "src/base/compact_list.hpp"
#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/statement/lowering/lowered_statement.hpp"

namespace tessera {
namespace {

// Numbers of boxes are products that may exceed any integer.
using Count = double;

// What a list keeps of a group that repeats: one occurrence with its steps, and what is at the
// edges.
constexpr Count kept_of_group = 2;

// The pieces of one dimension of an array that a statement uses.
struct PiecesAlong {
  Count all = 1;
  Count of_device = 1;  // the most of one device
  Count ways = 1;
  std::int64_t period = 0;  // in indices: then the pieces of a device come again; 0 if they do not
  Count in_period = 0;      // how many of them
};

// The range of cells that the indices see along a dimension. A read past an edge may wrap around,
// to any cell.
Piece cells_seen(AxisMap const& axis, Box const& indices, std::int64_t extent) {
  auto const d = static_cast<std::size_t>(axis.from);
  auto const one = axis.offset + axis.stride * indices.lo[d];
  auto const other = axis.offset + axis.stride * (indices.hi[d] - 1);
  auto const [lo, last] = std::minmax(one, other);
  return lo < 0 || last >= extent ? Piece{0, extent} : Piece{lo, last + 1};
}

void note_period(PiecesAlong& pieces, std::int64_t cells, std::int64_t stride) {
  if (stride == 0) return;
  pieces.period = cells / std::gcd(cells, stride);
  auto const per_index = std::abs(static_cast<Count>(stride)) / static_cast<Count>(cells);
  pieces.in_period = static_cast<Count>(pieces.period) * std::min(per_index, Count{1});
}

PiecesAlong pieces_along(Layout const& layout, std::size_t d, AffineMap const& map,
                         Box const& indices) {
  auto const& axis = map.axes[d];
  if (axis.from == AxisMap::fixed) return {};
  auto const extent = layout.shape()[d];
  auto const ways = layout.sharding().ways(d);
  auto const& cut = layout.sharding().cut(d);
  auto const seen = cells_seen(axis, indices, extent);
  auto const met = cut.pieces_intersecting(extent, ways, seen.lo, seen.hi).size();
  auto const count = indices.extent(static_cast<std::size_t>(axis.from));
  PiecesAlong pieces;
  pieces.all = static_cast<Count>(std::min(met, count));
  pieces.of_device = static_cast<Count>(std::min(ceil_div(met, ways), count));
  pieces.ways = static_cast<Count>(ways);
  // With several pieces for a device, a period is no longer than the extent.
  if (cut.kind() == Cut::Kind::cyclic && pieces.of_device > 1)
    note_period(pieces, cut.unit_cells() * ways, axis.stride);
  return pieces;
}

Count kept_of_groups(Count entries, Count group) {
  return group > Count{longest_group} ? entries : std::min(entries, kept_of_group * group);
}

Count kept_of(PiecesAlong const& pieces) {
  return pieces.period == 0 ? pieces.of_device : kept_of_groups(pieces.of_device, pieces.in_period);
}

// Of `blocks` blocks between a device and one of `others` peers: how many a compact list keeps.
Count kept_of_meetings(PiecesAlong const& one, PiecesAlong const& other, Count blocks,
                       Count others = 1) {
  if (one.of_device == 1 && other.of_device == 1) return blocks;
  if (one.of_device == 1) return std::min(blocks, kept_of(other));
  if (other.of_device == 1) return std::min(blocks, kept_of(one));
  if (one.period == 0 || other.period == 0) return blocks;
  auto const gcd = std::gcd(one.period, other.period);
  // Both come again after their least common multiple.
  std::int64_t const times_of_one = other.period / gcd, times_of_other = one.period / gcd;
  auto const group = (static_cast<Count>(times_of_one) * one.in_period +
                      static_cast<Count>(times_of_other) * other.in_period) /
                     others;
  return kept_of_groups(blocks, group);
}

// A list of boxes or blocks in rows. It is compact along one of its dimensions, where a group has
// all that lies inside.
class ListEstimate {
 public:
  /// Adds the next dimension inwards.
  void add(Count entries, Count kept) {
    for (auto& choice : choices_) choice = {choice.kept * entries, choice.group * entries};
    choices_.push_back({all_ * kept, kept / kept_of_group});
    all_ *= entries;
  }
  [[nodiscard]] Count kept() const {
    if (all_ < Count{least_compact_size}) return all_;
    auto least = all_;
    for (auto const& [kept, group] : choices_)
      if (group <= Count{longest_group}) least = std::min(least, kept);
    return least;
  }

 private:
  struct Choice {
    Count kept = 0;
    Count group = 0;
  };

  Count all_ = 1;
  InlineVector<Choice, max_rank> choices_;
};

// The blocks between a device and so many peers, whose messages are alike.
class MessagesEstimate {
 public:
  void add(PiecesAlong const& own, PiecesAlong const& others) {
    auto const blocks = std::ceil(others.all / own.ways) + own.of_device;
    auto const peers = std::min(others.ways, blocks);
    peers_ *= peers;
    of_peer_.add(blocks / peers, kept_of_meetings(own, others, blocks / peers, peers));
  }
  [[nodiscard]] Count kept() const { return peers_ * of_peer_.kept(); }

 private:
  Count peers_ = 1;
  ListEstimate of_peer_;
};

class PlanEstimate {
 public:
  explicit PlanEstimate(Statement const& statement) : work_(statement.work) {
    auto const works = boxes_of_device(*work_.layout, work_.map);
    bytes_ += works * sizeof(Part);
    if (statement.target != nullptr) bytes_ += works * sizeof(BoxWrite);
    for (auto const& operand : statement.operands)
      add(operand.access.map, *operand.array->layout());
  }

  [[nodiscard]] std::int64_t bytes() const {
    constexpr Count small = 16 << 10;
    constexpr Count most = std::int64_t{1} << 40;
    return static_cast<std::int64_t>(std::clamp(bytes_ - small, Count{0}, most));
  }

 private:
  [[nodiscard]] PiecesAlong along(Layout const& layout, AffineMap const& map, std::size_t d) const {
    return pieces_along(layout, d, map, work_.indices);
  }

  [[nodiscard]] Count boxes_of_device(Layout const& layout, AffineMap const& map) const {
    ListEstimate boxes;
    for (std::size_t d = 0; d < map.rank(); ++d) {
      auto const pieces = along(layout, map, d);
      boxes.add(pieces.of_device, kept_of(pieces));
    }
    return boxes.kept();
  }

  // How the work is cut along a dimension of the statement.
  [[nodiscard]] PiecesAlong work_along(int dimension) const {
    for (std::size_t d = 0; d < work_.map.rank(); ++d)
      if (work_.map.axes[d].from == dimension) return along(*work_.layout, work_.map, d);
    return {};
  }

  void add(AffineMap const& map, Layout const& layout) {
    bytes_ += boxes_of_device(layout, map) * sizeof(ReadBuffer);
    if (map == work_.map && layout == *work_.layout) {  // no messages
      bytes_ += boxes_of_device(layout, map) * sizeof(PartOperand);
      return;
    }
    ListEstimate parts;
    for (std::size_t d = 0; d < work_.map.rank(); ++d) {
      if (work_.map.axes[d].from == AxisMap::fixed) continue;
      auto const work = along(*work_.layout, work_.map, d);
      parts.add(work.of_device, kept_of_parts(map, layout, work_.map.axes[d].from, work));
    }
    bytes_ += parts.kept() * sizeof(PartOperand);
    MessagesEstimate received, sent;
    for (std::size_t d = 0; d < map.rank(); ++d) {
      if (map.axes[d].from == AxisMap::fixed) continue;
      auto const work = work_along(map.axes[d].from);
      auto const owned = along(layout, map, d);
      received.add(work, owned);
      sent.add(owned, work);
    }
    bytes_ += (received.kept() + sent.kept()) * sizeof(MessageBlock);
  }

  // Along a dimension of the statement: how many of its boxes read an operand in ways of their own.
  [[nodiscard]] Count kept_of_parts(AffineMap const& map, Layout const& layout, int dimension,
                                    PiecesAlong const& work) const {
    auto kept = kept_of(work);
    for (std::size_t d = 0; d < map.rank(); ++d)
      if (map.axes[d].from == dimension)
        kept = std::max(kept, kept_of_meetings(work, along(layout, map, d), work.of_device));
    return kept;
  }

  ComputePlacement const& work_;
  Count bytes_ = 0;
};

}  // namespace

std::int64_t estimated_plan_bytes(Statement const& statement) {
  if (statement.work.indices.empty()) return 0;
  return PlanEstimate(statement).bytes();
}

}  // namespace tessera
