#include "src/program/loop_explanation.hpp"

#include <algorithm>
#include <iterator>
#include <ostream>

#include "src/base/text.hpp"
#include "src/execution/run_loop.hpp"

namespace tessera {
namespace {

// Prints how blocks are submitted to GPUs; prints nothing for host devices.
void print_graphs(std::ostream& out, LoopExplanation const& explanation) {
  if (explanation.graph_blocks > 0)
    out << "\n  GPUs run " << counted(explanation.graph_blocks, "block")
        << " with one launch, as a graph";
  else if (!explanation.graph_fallback_reason.empty())
    out << "\n  GPUs run launch by launch, without graphs: " << explanation.graph_fallback_reason;
}

}  // namespace

void explain_block(Loop const& loop, LoopExplanation& result) {
  result.messages = loop.later->messages;
  result.bytes = loop.later->bytes;
  for (std::size_t i = 0; i < loop.devices.size(); ++i) {
    auto const& device = loop.devices[i];
    result.tasks = std::max(result.tasks, device.count_tasks());
    if (overlaps_messages(device, loop.later->devices[i]))
      result.early_tasks = std::max(result.early_tasks, std::ssize(device.early.tasks));
    auto const graphs = graph_use(device);
    result.graph_blocks = std::max(result.graph_blocks, graphs.blocks);
    result.graphs = std::max(result.graphs, graphs.made);
    if (result.graph_fallback_reason.empty()) result.graph_fallback_reason = graphs.fallback_reason;
  }
  if (result.graph_blocks > 0) result.graph_fallback_reason.clear();
}

std::ostream& operator<<(std::ostream& out, LoopExplanation const& explanation) {
  out << "loop at " << explanation.location;
  bool const is_plain = explanation.mode == LoopMode::plainly;
  if (is_plain && explanation.statements.statements.empty())
    return out << ": not recorded" << (explanation.fallback_reason.empty() ? " yet" : ", since ")
               << explanation.fallback_reason << '\n';
  out << ", " << counted(std::ssize(explanation.statements.statements), "statement") << " a step";
  if (explanation.period > 1) out << ", the arrays rotate with period " << explanation.period;
  out << '\n' << explanation.statements;
  if (is_plain)
    return out << "  the body runs in every step: " << explanation.fallback_reason << '\n';
  if (explanation.mode == LoopMode::replayed)
    return out << "  replayed statement by statement: " << explanation.fallback_reason << '\n';
  out << "  blocks of " << counted(explanation.depth, "step") << " in tiles of " << explanation.tile
      << " cells; a block has " << counted(explanation.tasks, "task") << " and sends "
      << counted(explanation.messages, "message") << ", " << bytes_text(explanation.bytes)
      << (explanation.early_tasks > 0 ? ", which travel while inner cells are computed" : "");
  if (explanation.parts > 1)
    out << "\n  sums divide a step into " << counted(explanation.parts, "part");
  print_graphs(out, explanation);
  out << "\n  chosen for caches of " << bytes_text(explanation.caches.nearest) << " and "
      << bytes_text(explanation.caches.second) << " and messages of "
      << explanation.message_seconds * 1e6 << " us; limited by " << explanation.bottleneck
      << "; a step takes " << explanation.predicted_seconds * 1e6 << " us by the model";
  if (explanation.measured_seconds > 0)
    out << ", " << explanation.measured_seconds * 1e6 << " us as measured";
  return out << '\n';
}

}  // namespace tessera
