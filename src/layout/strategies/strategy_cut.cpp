#include "src/layout/strategies/strategy_cut.hpp"

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/layout/strategies/strategy_state.hpp"
#include "src/mesh/axes.hpp"

namespace tessera {
namespace {

using strategy::Heads;
using strategy::Uneven;

Cut blocks_of(std::int64_t cells) {
  return cells == 1 ? Cut::balanced() : Cut::unit(cells);
}

// Several segments, or the cut of the only one, which makes one box of it.
Cut laid_together(std::vector<Cut::Segment> segments) {
  return segments.size() == 1 ? segments.front().cut : Cut::segments(std::move(segments));
}

std::int64_t cells_in(std::vector<Cut::Segment> const& segments) {
  std::int64_t cells = 0;
  for (auto const& segment : segments) cells += segment.cells;
  return cells;
}

// What all functions below are about.
struct Asked {
  Strategy const& strategy;
  Strategy::State const& state;
  Mesh const& mesh;
  SpecEntry const& axes;
  std::size_t dimension;
  std::int64_t extent;
  std::int64_t devices;

  [[nodiscard]] ShardingError error(std::string const& words) const {
    return ShardingError(text(strategy, " ", words));
  }
  [[nodiscard]] std::string dimension_text() const {
    return text("array dimension ", dimension, " has ", extent);
  }
};

std::size_t dimension_of(Strategy const& strategy, std::int64_t axis, Shape const& shape) {
  auto const rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank)
    throw ShapeError(text(strategy, " cuts dimension ", axis, " but the shape ", shape, " has ",
                          counted(rank, "dimension"), "; give an axis of it, or use replicate"));
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

// Heads in whole groups over all devices, or over those along the first axes, while the others hold
// copies of key/value heads and share the queries:
//
//   heads = 6, kv_heads = 2        device    0   1   2   3
//   axes kv=2, rep=2               kv head   0   0   1   1
//                                  queries  0 1  2  3 4  5
struct Dealing {
  SpecEntry kv_axes;        ///< those that cut the key/value heads
  std::int64_t copies = 1;  ///< of each key/value head
};

// The first axes that have so many devices, fewer than all have; none if there are no such axes.
AxisNames axes_with(std::int64_t devices, Mesh const& mesh, AxisNames const& axes) {
  AxisNames first;
  for (auto const& name : axes) {
    first.push_back(name);
    if (devices_along(mesh, first) == devices) return first;
  }
  return {};
}

ShardingError more_devices_than_heads(Asked const& asked) {
  auto const kv_heads = asked.state.heads.kv_heads.value_or(0);
  auto const what = text("has ", counted(kv_heads, "key/value head"), " for ", asked.devices,
                         " devices along ", axes_text(asked.axes));
  if (asked.devices % kv_heads != 0)
    return asked.error(text(what, "; use at most ", kv_heads, " devices, or a multiple of that"));
  auto const copies = asked.devices / kv_heads;
  auto const& names = asked.axes.axes();
  if (names.size() > 1)
    return asked.error(text(what, "; for copies of them let the first axes have ", kv_heads,
                            " devices and the others ", copies));
  return asked.error(text(what, "; for copies of them use mesh.split(\"", names.front(),
                          "\", {{\"kv\", ", kv_heads, "}, {\"rep\", ", copies,
                          "}}), and {\"kv\", \"rep\"} in place of \"", names.front(), '"'));
}

Dealing deal_heads(Asked const& asked) {
  auto const& heads = asked.state.heads;
  auto const kv_heads = heads.kv_heads.value_or(0);
  auto const queries = heads.heads / kv_heads;
  Dealing dealing{asked.axes};
  if (asked.devices > kv_heads) {
    auto first = axes_with(kv_heads, asked.mesh, asked.axes.axes());
    if (first.empty()) throw more_devices_than_heads(asked);
    dealing = {SpecEntry(std::move(first)), asked.devices / kv_heads};
  }
  if (dealing.copies > queries)
    throw asked.error(text("has ", counted(heads.heads, "query head"), " for ", asked.devices,
                           " devices along ", axes_text(asked.axes), "; use at most ", heads.heads,
                           " devices"));
  bool const is_even =
      dealing.copies > 1 ? queries % dealing.copies == 0 : kv_heads % asked.devices == 0;
  if (heads.uneven == Uneven::refused && !is_even)
    throw asked.error(text("cannot deal ", dealing.copies > 1 ? heads.heads : kv_heads,
                           dealing.copies > 1 ? " query heads" : " key/value heads", " evenly to ",
                           asked.devices, " devices along ", axes_text(asked.axes),
                           "; use a number of devices that divides them, or leave out .uneven"));
  return dealing;
}

Cut cut_of_queries(Heads const& heads, Dealing const& dealing) {
  auto const head = packed_cells(heads.head_dim, heads.packed);
  auto const kv_heads = heads.kv_heads.value_or(0);
  auto const queries = heads.heads / kv_heads;
  if (dealing.copies == 1) return blocks_of(head * queries);
  if (queries % dealing.copies == 0) return blocks_of(head);
  std::vector<std::int64_t> sizes;
  for (std::int64_t kv_head = 0; kv_head < kv_heads; ++kv_head)
    for (std::int64_t copy = 0; copy < dealing.copies; ++copy)
      sizes.push_back(head * Cut::balanced().piece(queries, dealing.copies, copy).size());
  return Cut::explicit_sizes(std::move(sizes));
}

void check_covered(Asked const& asked, std::int64_t covered, std::string const& remedy) {
  if (covered == asked.extent) return;
  throw asked.error(
      text("covers ", counted(covered, "cell"), " but ", asked.dimension_text(), "; ", remedy));
}

// What to write so that stacked queries, keys and values fit, if another kv_heads does it.
std::string remedy_of_stack(Heads const& heads, std::int64_t extent) {
  auto const head = packed_cells(heads.head_dim, heads.packed);
  auto const rest = extent / head - heads.heads;
  auto const is_whole = extent % head == 0 && rest > 0 && rest % 2 == 0;
  if (is_whole && heads.heads % (rest / 2) == 0) return text("give .kv_heads = ", rest / 2);
  return "give its heads, kv_heads and head_dim, and .packed if it is packed: (heads + 2 kv_heads) "
         "head_dim values";
}

StrategyCut cut_stack(Asked const& asked) {
  auto const& heads = asked.state.heads;
  auto const head = packed_cells(heads.head_dim, heads.packed);
  auto const kv_cells = heads.kv_heads.value_or(0) * head;
  check_covered(asked, heads.heads * head + 2 * kv_cells, remedy_of_stack(heads, asked.extent));
  auto const dealing = deal_heads(asked);
  if (dealing.copies > 1)
    throw asked.error(text("cannot hold ", dealing.copies,
                           " copies of each key/value head, since the queries beside them have one "
                           "owner; store them as weights of their own and use strategy::heads and "
                           "strategy::kv_heads"));
  Cut::Segment const keys(kv_cells, blocks_of(head));
  return {asked.dimension, asked.axes,
          Cut::segments({{heads.heads * head, cut_of_queries(heads, dealing)}, keys, keys})};
}

StrategyCut cut_heads(Asked const& asked) {
  auto const& heads = asked.state.heads;
  auto const head = packed_cells(heads.head_dim, heads.packed);
  bool const has_queries = asked.state.kind != StrategyKind::kv_heads;
  check_covered(asked, (has_queries ? heads.heads : heads.kv_heads.value_or(0)) * head,
                text("give its heads", has_queries ? "" : ", kv_heads",
                     " and head_dim, and .packed if it is packed"));
  auto const dealing = deal_heads(asked);
  if (has_queries) return {asked.dimension, asked.axes, cut_of_queries(heads, dealing)};
  return {asked.dimension, dealing.kv_axes, blocks_of(head)};
}

StrategyCut cut_gate_up(Asked const& asked) {
  if (asked.extent % 2 != 0)
    throw asked.error(text("cuts two halves but ", asked.dimension_text(),
                           ", an odd number; give the axis that holds gate and up, or pad both"));
  return {asked.dimension, asked.axes, Cut::segments({asked.extent / 2, asked.extent / 2})};
}

StrategyCut cut_segments(Asked const& asked) {
  auto const& packed = asked.state.packed;
  // Values that may be cut anywhere are cut where they fill whole cells.
  auto const pack = packed.cells / std::gcd(packed.values, packed.cells);
  std::vector<Cut::Segment> segments;
  for (auto const& [count, unit] : asked.state.segments)
    segments.emplace_back(packed_cells(count * unit, packed),
                          blocks_of(unit == 1 ? pack : packed_cells(unit, packed)));
  check_covered(asked, cells_in(segments),
                "give segments that cover it, or .packed if values share cells");
  return {asked.dimension, asked.axes, laid_together(std::move(segments))};
}

}  // namespace

StrategyCut cut_by(Strategy const& strategy, Mesh const& mesh, SpecEntry const& axes,
                   Shape const& shape) {
  auto const& state = Strategy::State::of(strategy);
  auto const d = dimension_of(strategy, state.axis.value_or(0), shape);
  Asked const asked{strategy, state, mesh, axes, d, shape[d], devices_along(mesh, axes.axes())};
  switch (state.kind) {
    case StrategyKind::gate_up:
      return cut_gate_up(asked);
    case StrategyKind::stacked_qkv:
      return cut_stack(asked);
    case StrategyKind::heads:
    case StrategyKind::kv_heads:
    case StrategyKind::head_aware_columnwise:
      return cut_heads(asked);
    case StrategyKind::segmented:
      return cut_segments(asked);
    default:
      return {d, axes, Cut::balanced()};
  }
}

}  // namespace tessera
