#include <array>
#include <string>
#include <vector>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/layout/strategies/strategy_state.hpp"

namespace tessera {
namespace {

using State = Strategy::State;
using strategy::Packed;

void add_segments(State const& state, std::vector<std::string>& words) {
  for (auto const& [count, unit] : state.segments)
    words.push_back(unit == 1 ? text(count) : text(count, " x ", unit));
}

void add_heads(State const& state, std::vector<std::string>& words) {
  auto const& heads = state.heads;
  words.push_back(text("heads=", heads.heads));
  if (heads.kv_heads != heads.heads) words.push_back(text("kv_heads=", *heads.kv_heads));
  words.push_back(text("head_dim=", heads.head_dim));
}

void add_weights(State const& state, std::vector<std::string>& words) {
  for (auto const& [weight, strategy] : state.weights)
    words.push_back(text(excerpt(weight), ": ", strategy));
}

}  // namespace

char const* name_of(StrategyKind kind) {
  constexpr std::array names{"rowwise",   "columnwise",      "axiswise",
                             "replicate", "gate_up",         "stacked_qkv",
                             "heads",     "kv_heads",        "head_aware_columnwise",
                             "segmented", "tensor_parallel", "expert_parallel"};
  return names[static_cast<std::size_t>(kind)];
}

std::ostream& operator<<(std::ostream& out, Strategy const& strategy) {
  auto const& state = State::of(strategy);
  std::vector<std::string> words;
  add_segments(state, words);
  if (state.heads.heads > 0) add_heads(state, words);
  add_weights(state, words);
  bool const shows_axis = state.kind == StrategyKind::axiswise ||
                          state.kind == StrategyKind::segmented ||
                          state.axis.value_or(state.usual_axis()) != state.usual_axis();
  if (shows_axis) words.push_back(text("axis=", *state.axis));
  auto const& packed = state.heads.heads > 0 ? state.heads.packed : state.packed;
  if (packed != Packed()) words.push_back(text("packed=", packed.values, ':', packed.cells));
  if (state.heads.uneven == strategy::Uneven::refused) words.emplace_back("uneven=refused");
  if (state.num_devices) words.push_back(text("num_devices=", *state.num_devices));
  return out << text(name_of(state.kind), join(words, "(", ")"));
}

}  // namespace tessera
