#include "src/runtime/submission.hpp"

#include "src/runtime/engine.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera::detail {

void submit(Operation const& operation) {
  engine().run(operation);
}

void replay(Statement const& statement) {
  engine().replay(statement);
}

void replay(Operation const& operation) {
  engine().replay(operation);
}

Machine const& machine() {
  return engine().machine();
}

void run_on_local_devices(std::function<void(DeviceId)> const& f) {
  engine().on_local_devices(f);
}

void open_loop_channels(Loop& loop) {
  engine().open_channels(loop);
}

void run_loop_blocks(LoopRun const& run) {
  engine().run(run);
}

}  // namespace tessera::detail
