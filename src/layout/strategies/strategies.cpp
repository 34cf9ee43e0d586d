#include "tessera/layout/strategies.hpp"

#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/layout/strategies/strategy_cut.hpp"
#include "src/layout/strategies/strategy_state.hpp"
#include "src/mesh/axes.hpp"

namespace tessera {
namespace {

std::vector<std::string> names_of(std::vector<NamedStrategy> const& weights) {
  std::vector<std::string> names;
  for (auto const& [weight, strategy] : weights) names.push_back(weight);
  return names;
}

// The axes must be of the mesh, each once.
std::int64_t devices_asked(Mesh const& mesh, SpecEntry const& axes) {
  return NamedSharding(mesh, P(axes)).ways(0);
}

}  // namespace

Strategy::Strategy(State state) : state_(std::make_shared<State const>(std::move(state))) {}

NamedSharding Strategy::on(Mesh const& mesh, SpecEntry const& axes, Shape const& shape) const {
  auto const& state = *state_;
  if (state.is_module())
    throw ShardingError(text(name_of(state.kind),
                             " is the strategy of a module; ask that of one of its weights, as "
                             "strategy[\"",
                             excerpt(state.weights.front().weight), "\"].on(...); it has ",
                             excerpt(join(names_of(state.weights)))));
  auto const devices = devices_asked(mesh, axes);
  if (state.num_devices.value_or(devices) != devices)
    throw ShardingError(text(*this, " is for ", counted(state.num_devices.value_or(0), "device"),
                             " but there ", devices == 1 ? "is " : "are ", devices, " along ",
                             axes_text(axes),
                             "; use a mesh with as many, or leave out num_devices"));
  std::vector<SpecEntry> entries(shape.size(), none);
  std::vector<Cut> cuts(shape.size(), Cut::balanced());
  if (state.axis) {
    auto [d, cut_axes, cut] = cut_by(*this, mesh, axes, shape);
    entries[d] = std::move(cut_axes);
    cuts[d] = std::move(cut);
  }
  NamedSharding sharding(mesh, PartitionSpec(std::move(entries)), std::move(cuts));
  sharding.check(shape);
  return sharding;
}

std::optional<std::int64_t> Strategy::axis() const {
  return state_->axis;
}
std::optional<std::int64_t> Strategy::num_devices() const {
  return state_->num_devices;
}

bool Strategy::is_rowwise() const {
  return state_->kind == StrategyKind::rowwise;
}
bool Strategy::is_colwise() const {
  return state_->kind == StrategyKind::columnwise;
}
bool Strategy::is_replicate() const {
  return state_->kind == StrategyKind::replicate;
}
bool Strategy::is_gate_up() const {
  return state_->kind == StrategyKind::gate_up;
}
bool Strategy::is_stacked_qkv() const {
  return state_->kind == StrategyKind::stacked_qkv;
}
bool Strategy::is_head_aware_colwise() const {
  return state_->kind == StrategyKind::head_aware_columnwise;
}
bool Strategy::is_tensor_parallel() const {
  return state_->kind == StrategyKind::tensor_parallel;
}
bool Strategy::is_expert_parallel() const {
  return state_->kind == StrategyKind::expert_parallel;
}

Strategy Strategy::operator[](std::string_view weight) const {
  for (auto const& named : state_->weights)
    if (named.weight == weight) return named.strategy;
  if (!state_->is_module())
    throw ShardingError(text(*this, " is the strategy of one weight and has none named '",
                             excerpt(weight), "'; use it as it is"));
  throw ShardingError(text(name_of(state_->kind), " has no weight '", excerpt(weight), "'; it has ",
                           excerpt(join(names_of(state_->weights)))));
}

std::vector<NamedStrategy> const& Strategy::weights() const {
  return state_->weights;
}

bool operator==(Strategy const& a, Strategy const& b) {
  return a.state_ == b.state_ || *a.state_ == *b.state_;
}

}  // namespace tessera
