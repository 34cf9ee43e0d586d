#pragma once
/// @file
/// What a strategy consists of.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/layout/strategies.hpp"

namespace tessera {

enum class StrategyKind : std::uint8_t {
  rowwise,
  columnwise,
  axiswise,
  replicate,
  gate_up,
  stacked_qkv,
  heads,
  kv_heads,
  head_aware_columnwise,
  segmented,
  tensor_parallel,
  expert_parallel
};

/// "rowwise"
[[nodiscard]] char const* name_of(StrategyKind kind);

struct Strategy::State {
  StrategyKind kind = StrategyKind::replicate;
  std::optional<std::int64_t> axis = {};
  std::optional<std::int64_t> num_devices = {};
  strategy::Heads heads = {};  ///< of strategies of heads; its axis and devices are those above
  std::vector<strategy::Segment> segments = {};  ///< of `segmented`
  strategy::Packed packed = {};                  ///< of `segmented`
  std::vector<NamedStrategy> weights = {};       ///< of modules

  [[nodiscard]] static Strategy make(State state) { return Strategy(std::move(state)); }
  [[nodiscard]] static State const& of(Strategy const& strategy) { return *strategy.state_; }
  [[nodiscard]] bool is_module() const {
    return kind == StrategyKind::tensor_parallel || kind == StrategyKind::expert_parallel;
  }
  /// The dimension that is cut if nothing else is said.
  [[nodiscard]] std::int64_t usual_axis() const {
    return kind == StrategyKind::columnwise || kind == StrategyKind::head_aware_columnwise ? 1 : 0;
  }
  friend bool operator==(State const&, State const&) = default;
};

}  // namespace tessera
