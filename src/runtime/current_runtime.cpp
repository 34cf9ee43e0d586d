#include "src/runtime/current_runtime.hpp"

#include "tessera/base/error.hpp"

#include "src/runtime/engine.hpp"

namespace tessera {

constinit detail::CurrentRuntime detail::current_runtime;

Job const& job() {
  if (detail::current_runtime.engine == nullptr)
    throw UsageError(
        "there is no tessera::Runtime; make one at the start of main, before the first array");
  return detail::current_runtime.engine->job();
}

DeviceKind device_kind() {
  (void)job();
  return detail::current_runtime.engine->device_kind();
}

QueueTraits const& device_traits() {
  (void)job();
  return detail::current_runtime.engine->device_traits();
}

Engine& engine() {
  (void)job();
  if (std::this_thread::get_id() != detail::current_runtime.thread)
    throw UsageError(
        "Tessera was called from another thread than the one that made the Runtime, or "
        "from a function that the workers run; read its inputs before");
  if (detail::current_runtime.runs_user_function)
    throw UsageError(
        "a function that Tessera runs on the devices called Tessera; read its inputs "
        "before, and capture the values");
  return *detail::current_runtime.engine;
}

void detail::set_engine(Engine* engine) {
  current_runtime.engine = engine;
  current_runtime.thread = std::this_thread::get_id();
}

}  // namespace tessera
