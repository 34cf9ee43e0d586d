#pragma once
/// @file
/// The one Runtime of a process: what it consists of, and who may call it.

#include <exception>
#include <optional>
#include <thread>

#include "tessera/device/device_kind.hpp"

namespace tessera {

class Bootstrap;
class Engine;
class Job;
class StatementListener;
struct QueueTraits;

/// The engine of the current Runtime.
/// Throws: UsageError if there is none, on another thread, and inside a function that Tessera runs.
[[nodiscard]] Engine& engine();
/// The job's processes and devices. Any thread may call this. Throws: UsageError without a Runtime.
[[nodiscard]] Job const& job();
/// The kind of the job's devices. Any thread may call this. Throws: UsageError without a Runtime.
[[nodiscard]] DeviceKind device_kind();
/// What the queues of the job's devices can do: all of them the same. Throws: UsageError if there
/// is no Runtime.
[[nodiscard]] QueueTraits const& device_traits();

namespace detail {

/// Everything of which a process has one, in one place. Written by the Runtime alone.
struct CurrentRuntime {
  Engine* engine = nullptr;
  std::optional<std::thread::id> thread;  ///< that made the engine, the only one that may call it
  bool runs_user_function = false;        ///< the workers run a function of the program
  StatementListener* listener = nullptr;  ///< is told what the program does; null for nobody
  // What std::terminate has to end, null where that has been done; and what it did before.
  Bootstrap* bootstrap_to_abort = nullptr;
  Engine* engine_to_end = nullptr;
  std::terminate_handler terminate_handler = nullptr;
};
extern CurrentRuntime current_runtime;

/// Sets the engine that `engine()` returns; null for none.
void set_engine(Engine* engine);

/// While a function of the program runs on the workers, `engine()` refuses.
class UserFunctionScope {
 public:
  UserFunctionScope() { current_runtime.runs_user_function = true; }
  ~UserFunctionScope() { current_runtime.runs_user_function = false; }
  UserFunctionScope(UserFunctionScope const&) = delete;
  UserFunctionScope& operator=(UserFunctionScope const&) = delete;
};

}  // namespace detail
}  // namespace tessera
