#include "src/runtime/devices/loop_dispatcher.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/execution/loop_arrays.hpp"

namespace tessera {

void LoopDispatcher::open_channels(Loop& loop) {
  auto const tag = tools_.log.begin(mix(loop.hash, bits_of(loop.steps)), loop.location);
  tools_.log.compare(tag, [words = loop.words] { return text("the channels of ", words); });
  for (auto const& plan : {loop.first, loop.later}) {
    tools_.devices.make_room(*plan);
    tessera::open_channels(*plan, tag, tools_.messages);
  }
  if (!loop.reductions.empty()) tools_.trees.open(tag);
}

void LoopDispatcher::run(LoopRun const& run, Work& work) {
  auto const& loop = run.loop;
  auto const blocks = static_cast<std::uint64_t>(run.blocks);
  auto const tag =
      tools_.log.begin(mix(loop.hash, mix(blocks, bits_of(loop.steps))), loop.location);
  if (tools_.log.compares())
    tools_.log.compare(tag, [words = loop.words, steps = run.blocks * loop.steps] {
      return text(counted(steps, "step"), " of ", words);
    });
  tools_.devices.synchronize();
  for (auto const& context : tools_.devices.contexts())
    work.arguments.push_back(arguments_of(run, context.device, work.arguments.size()));
  work.call = [this, &work, row = tools_.profiler.row_of(run)](DeviceTask& task) {
    auto const index = tools_.devices.index_of(task.device);
    task.timer = tools_.profiler.timer(index);
    task.tree = &tools_.trees.of_device(index);
    if (task.timer != nullptr) task.timer->begin(row);
    run_loop(task, work.arguments[index]);
    if (task.timer != nullptr) task.timer->end();
  };
  tools_.dispatcher.post_to_all(work.call, tag);
  tools_.devices.synchronize();
  note_effects(run);
  tools_.profiler.count(run);
}

}  // namespace tessera
