#include "src/execution/gpu_wait.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

// A GPU may be busy for as long as it likes: the wait ends by what happens, not by the clock.
template <class Ready>
void wait_until(DeviceTask& task, Ready const& ready) {
  Awaited what;
  what.kind = Awaited::Kind::gpu;
  what.self = task.device;
  what.peer = task.device;
  what.statement = task.tag;
  task.waiter->until(ready, what);
}

}  // namespace

void wait_until_passed(DeviceTask& task, GpuEvent& event) {
  wait_until(task, [&] {
    task.context->check_group();
    return event.has_passed();
  });
}

void wait_for_gpu(DeviceTask& task) {
  auto& gpu = *task.context;
  gpu.queue->record(*gpu.event);
  wait_until_passed(task, *gpu.event);
}

// Reports a broken connection as a failed process.
void wait_for_communicator(DeviceTask& task) try {
  wait_until(task, [&] { return task.context->group->is_ready(); });
} catch (TransportError const& error) {
  throw PeerFailed(text(error.what(), ", at ", task.tag));
}

}  // namespace tessera
