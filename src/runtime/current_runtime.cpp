#include "src/runtime/current_runtime.hpp"

#include <pthread.h>

#include "tessera/base/error.hpp"

#include "src/runtime/engine.hpp"

namespace tessera {

constinit detail::CurrentRuntime detail::current_runtime;

namespace {

// Runs in the child. Only stores: other threads of the parent may have held any lock.
void forget_runtime() noexcept {
  auto& current = detail::current_runtime;
  if (current.bootstrap_to_abort == nullptr) return;
  current.is_fork = true;
  current.engine = nullptr;
  current.youngest_listener = nullptr;
  current.bootstrap_to_abort = nullptr;
  current.engine_to_end = nullptr;
}

}  // namespace

void detail::leave_runtime_to_parent_in_forks() {
  static int const result = pthread_atfork(nullptr, nullptr, &forget_runtime);
  if (result != 0) throw ConfigError("no memory to prepare for fork()");
}

void detail::refuse_in_fork() {
  if (current_runtime.is_fork)
    throw UsageError(
        "this process was forked from one that has a tessera::Runtime, and only its parent may "
        "call "
        "Tessera; call exec in it, or fork before the Runtime is made");
}

Job const& job() {
  if (detail::current_runtime.engine == nullptr) {
    detail::refuse_in_fork();
    throw UsageError(
        "there is no tessera::Runtime; make one at the start of main, before the first array");
  }
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
  current_runtime.number = engine == nullptr ? 0 : engine->number();
  current_runtime.thread = std::this_thread::get_id();
}

}  // namespace tessera
