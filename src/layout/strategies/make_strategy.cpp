#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/layout/strategies.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/layout/strategies/strategy_cut.hpp"
#include "src/layout/strategies/strategy_state.hpp"

namespace tessera {
namespace {

using State = Strategy::State;
using strategy::Heads;
using strategy::Packed;
using strategy::Segment;

// Sums and products of these cannot overflow.
constexpr std::int64_t most_values = std::int64_t{1} << 50;
constexpr std::int64_t most_packed = 1024;

ShardingError error_of(StrategyKind kind, std::string const& words) {
  return ShardingError(text("strategy::", name_of(kind), ' ', words));
}

void check_devices(StrategyKind kind, std::optional<std::int64_t> num_devices) {
  if (num_devices.value_or(1) < 1)
    throw error_of(kind, text("is asked for ", *num_devices,
                              " devices; give 1 or more, or leave out num_devices"));
}

void check_packed(StrategyKind kind, Packed const& packed) {
  auto const is_fine = [](std::int64_t n) { return n >= 1 && n <= most_packed; };
  if (!is_fine(packed.values) || !is_fine(packed.cells))
    throw error_of(kind, text("packs ", packed.values, " values into ", packed.cells,
                              " cells; both are 1 to ", most_packed));
}

// A unit that began inside a cell could not be cut off.
void check_filled(StrategyKind kind, std::int64_t values, Packed const& packed) {
  if (fills_cells(values, packed)) return;
  auto pad = values;
  while (!fills_cells(pad, packed)) ++pad;
  throw error_of(kind,
                 text("has units of ", counted(values, "value"), " that do not fill whole cells, ",
                      packed.values, " in ", packed.cells, "; pad them to ", pad));
}

// Returns them with everything given.
Heads checked(StrategyKind kind, Heads heads) {
  auto const kv_heads = heads.kv_heads.value_or(heads.heads);
  if (heads.heads < 1 || kv_heads < 1 || heads.head_dim < 1)
    throw error_of(kind, text("has heads = ", heads.heads, ", kv_heads = ", kv_heads,
                              " and head_dim = ", heads.head_dim, "; each is 1 or more"));
  if (heads.heads % kv_heads != 0)
    throw error_of(kind, text("has ", counted(heads.heads, "query head"), " and ",
                              counted(kv_heads, "key/value head"),
                              "; give a number of key/value heads that divides the other"));
  if (heads.heads > most_values / heads.head_dim) throw error_of(kind, "has more than 2^50 values");
  check_packed(kind, heads.packed);
  check_filled(kind, heads.head_dim, heads.packed);
  heads.kv_heads = kv_heads;
  return heads;
}

Strategy with_heads(StrategyKind kind, Heads const& heads) {
  State state{.kind = kind, .num_devices = heads.num_devices};
  check_devices(kind, heads.num_devices);
  state.heads = checked(kind, heads);
  state.axis = heads.axis.value_or(state.usual_axis());
  state.heads.axis.reset();
  state.heads.num_devices.reset();
  return State::make(std::move(state));
}

Strategy with_axis(StrategyKind kind, std::optional<std::int64_t> axis,
                   std::optional<std::int64_t> num_devices) {
  check_devices(kind, num_devices);
  return State::make({.kind = kind, .axis = axis, .num_devices = num_devices});
}

void check_names(StrategyKind kind, std::vector<NamedStrategy> const& weights) {
  if (weights.empty()) throw error_of(kind, "has no weights; give a name and a strategy for each");
  for (auto weight = weights.begin(); weight != weights.end(); ++weight) {
    if (weight->weight.empty())
      throw error_of(kind, text("has an empty name for weight ", weight - weights.begin(),
                                "; give each a name"));
    if (std::any_of(weights.begin(), weight,
                    [&](auto const& w) { return w.weight == weight->weight; }))
      throw error_of(
          kind, text("names the weight '", excerpt(weight->weight), "' twice; names must differ"));
  }
}

// The strategy for so many devices alone; the strategies in a module, too.
Strategy for_devices(StrategyKind kind, NamedStrategy const& named, std::int64_t num_devices) {
  auto state = State::of(named.strategy);
  if (state.num_devices.value_or(num_devices) != num_devices)
    throw error_of(kind, text("is for ", counted(num_devices, "device"), " but its weight '",
                              excerpt(named.weight), "' for ", *state.num_devices,
                              "; give one number, or leave both out"));
  state.num_devices = num_devices;
  for (auto& inner : state.weights) inner.strategy = for_devices(kind, inner, num_devices);
  return State::make(std::move(state));
}

Strategy module_of(StrategyKind kind, std::vector<NamedStrategy> weights,
                   std::optional<std::int64_t> num_devices) {
  check_devices(kind, num_devices);
  check_names(kind, weights);
  if (num_devices)
    for (auto& weight : weights) weight.strategy = for_devices(kind, weight, *num_devices);
  return State::make({.kind = kind, .num_devices = num_devices, .weights = std::move(weights)});
}

// Returns the number of values.
std::int64_t check_segment(Segment const& segment, Packed const& packed) {
  constexpr auto kind = StrategyKind::segmented;
  auto const& [count, unit] = segment;
  if (count < 0 || unit < 1)
    throw error_of(kind, text("has a segment of ", counted(count, "unit"), " of ",
                              counted(unit, "value"), "; give 0 or more units of 1 or more"));
  if (count > most_values / unit) throw error_of(kind, "has more than 2^50 values");
  check_filled(kind, unit == 1 ? count : unit, packed);
  return count * unit;
}

}  // namespace

namespace strategy {

Strategy rowwise(std::optional<std::int64_t> num_devices) {
  return with_axis(StrategyKind::rowwise, 0, num_devices);
}
Strategy columnwise(std::optional<std::int64_t> num_devices) {
  return with_axis(StrategyKind::columnwise, 1, num_devices);
}
Strategy axiswise(std::int64_t axis, std::optional<std::int64_t> num_devices) {
  return with_axis(StrategyKind::axiswise, axis, num_devices);
}
Strategy replicate(std::optional<std::int64_t> num_devices) {
  return with_axis(StrategyKind::replicate, {}, num_devices);
}
Strategy gate_up(GateUp const& options) {
  return with_axis(StrategyKind::gate_up, options.axis, options.num_devices);
}
Strategy stacked_qkv(Heads const& heads) {
  return with_heads(StrategyKind::stacked_qkv, heads);
}
Strategy heads(Heads const& heads) {
  return with_heads(StrategyKind::heads, heads);
}
Strategy kv_heads(Heads const& heads) {
  return with_heads(StrategyKind::kv_heads, heads);
}
Strategy head_aware_columnwise(Heads const& heads) {
  return with_heads(StrategyKind::head_aware_columnwise, heads);
}

Strategy segmented(Segmented const& options) {
  constexpr auto kind = StrategyKind::segmented;
  check_devices(kind, options.num_devices);
  check_packed(kind, options.packed);
  if (options.segments.empty())
    throw error_of(kind, "has no segments; give one for each part of the dimension");
  std::int64_t values = 0;
  for (auto const& segment : options.segments) {
    values += check_segment(segment, options.packed);
    if (values > most_values) throw error_of(kind, "has more than 2^50 values");
  }
  return State::make({.kind = kind,
                      .axis = options.axis,
                      .num_devices = options.num_devices,
                      .segments = options.segments,
                      .packed = options.packed});
}

Strategy tensor_parallel(std::vector<NamedStrategy> weights,
                         std::optional<std::int64_t> num_devices) {
  return module_of(StrategyKind::tensor_parallel, std::move(weights), num_devices);
}

Strategy expert_parallel(Experts const& layer) {
  std::vector<NamedStrategy> weights;
  for (auto const& name : layer.experts) weights.push_back({name, axiswise(0)});
  for (auto const& name : layer.copied) weights.push_back({name, replicate()});
  return module_of(StrategyKind::expert_parallel, std::move(weights), layer.num_devices);
}

}  // namespace strategy
}  // namespace tessera
