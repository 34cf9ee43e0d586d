#include "src/statement/lowering/plan_bytes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/statement/lowering/lowered_statement.hpp"

namespace tessera {
namespace {

// Numbers of boxes are products that may exceed any integer.
using Count = double;

// The pieces of one dimension of an array that a statement uses.
struct PiecesAlong {
  Count all = 1;
  Count of_device = 1;  // the most of one device
  Count ways = 1;
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

PiecesAlong pieces_along(Layout const& layout, std::size_t d, AffineMap const& map,
                         Box const& indices) {
  auto const& axis = map.axes[d];
  if (axis.from == AxisMap::fixed) return {};
  auto const extent = layout.shape()[d];
  auto const ways = layout.sharding().ways(d);
  auto const seen = cells_seen(axis, indices, extent);
  auto const met =
      layout.sharding().cut(d).pieces_intersecting(extent, ways, seen.lo, seen.hi).size();
  auto const count = indices.extent(static_cast<std::size_t>(axis.from));
  return {static_cast<Count>(std::min(met, count)),
          static_cast<Count>(std::min(ceil_div(met, ways), count)), static_cast<Count>(ways)};
}

class PlanEstimate {
 public:
  explicit PlanEstimate(Statement const& statement) : work_(statement.work) {
    auto const works = boxes_of_device(*work_.layout, work_.map);
    bytes_ += works * sizeof(Part);
    if (statement.target != nullptr) bytes_ += works * sizeof(BoxWrite);
    for (auto const& operand : statement.operands) {
      auto const& layout = *operand.array->layout();
      bytes_ += works * sizeof(PartOperand);
      bytes_ += boxes_of_device(layout, operand.access.map) * sizeof(ReadBuffer);
      bytes_ += blocks_of(operand.access.map, layout) * sizeof(MessageBlock);
    }
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
    Count boxes = 1;
    for (std::size_t d = 0; d < map.rank(); ++d) boxes *= along(layout, map, d).of_device;
    return boxes;
  }

  // How the work is cut along a dimension of the statement.
  [[nodiscard]] PiecesAlong work_along(int dimension) const {
    for (std::size_t d = 0; d < work_.map.rank(); ++d)
      if (work_.map.axes[d].from == dimension) return along(*work_.layout, work_.map, d);
    return {};
  }

  // The blocks that a device receives and those that it sends: along each dimension its boxes meet
  // so many of the owners' pieces, and its pieces so many of the readers' boxes.
  [[nodiscard]] Count blocks_of(AffineMap const& map, Layout const& layout) const {
    if (map == work_.map && layout == *work_.layout) return 0;
    Count received = 1;
    Count sent = 1;
    for (std::size_t d = 0; d < map.rank(); ++d) {
      if (map.axes[d].from == AxisMap::fixed) continue;
      auto const work = work_along(map.axes[d].from);
      auto const owned = along(layout, map, d);
      received *= std::ceil(owned.all / work.ways) + work.of_device;
      sent *= std::ceil(work.all / owned.ways) + owned.of_device;
    }
    return received + sent;
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
