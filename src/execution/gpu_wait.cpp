#include "src/execution/gpu_wait.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

// A GPU may be busy for as long as it likes: the wait ends by what happens, not by the clock.
template <class Ready>
void wait_until(Record& record, Ready const& ready) {
  Awaited what;
  what.kind = Awaited::Kind::gpu;
  what.self = record.device;
  what.peer = record.device;
  what.statement = record.tag;
  record.waiter->until(ready, what);
}

}  // namespace

void wait_until_passed(Record& record, GpuEvent& event) {
  wait_until(record, [&] {
    record.gpu_context->check_group();
    return event.has_passed();
  });
}

void wait_for_gpu(Record& record) {
  auto& gpu = *record.gpu_context;
  gpu.stream->record(*gpu.event);
  wait_until_passed(record, *gpu.event);
}

// Reports a broken connection as a failed process.
void wait_for_communicator(Record& record) try {
  wait_until(record, [&] { return record.gpu_context->group->is_ready(); });
} catch (TransportError const& error) {
  throw PeerFailed(text(error.what(), ", at ", record.tag));
}

}  // namespace tessera
