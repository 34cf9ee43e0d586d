#include "src/execution/loop.hpp"

#include <utility>

namespace tessera {

Loop::Loop(LoweredLoop&& lowered)
    : LoopPlan(std::move(static_cast<LoopPlan&>(lowered))),
      first(std::make_shared<CompiledStatement>(std::move(lowered.first))),
      later(std::make_shared<CompiledStatement>(std::move(lowered.later))) {
  for (auto& work : lowered.devices)
    devices.push_back({std::move(work), keeps_graphs ? make_loop_graphs() : nullptr});
}

}  // namespace tessera
