#pragma once
/// @file
/// The one Runtime of a process: what it consists of, and who may call it.

#include <cstdint>
#include <exception>
#include <optional>
#include <thread>

#include "tessera/device/device_kind.hpp"

namespace tessera {

class Bootstrap;
class Engine;
class Job;
class Listener;
struct QueueTraits;

/// The engine of the current Runtime.
/// Throws: UsageError if there is none, on another thread, and inside a function that Tessera runs.
[[nodiscard]] Engine& engine();
/// The job's processes and devices. Any thread may call this. Throws: UsageError without a Runtime.
[[nodiscard]] Job const& job();
/// The kind of the job's devices. Any thread may call this. Throws: UsageError without a Runtime.
[[nodiscard]] DeviceKind device_kind();
/// Returns the traits of the devices' queues, which are the same for all devices of the job.
/// Throws: UsageError if there is no Runtime.
[[nodiscard]] QueueTraits const& device_traits();

namespace detail {

/// Holds everything of which a process has one. Only the Runtime and listeners write it.
struct CurrentRuntime {
  Engine* engine = nullptr;
  std::uint64_t number = 0;               ///< of that engine; 0 without one
  std::uint64_t engines = 0;              ///< made so far, of which each gets the next number
  std::optional<std::thread::id> thread;  ///< that made the engine, the only one that may call it
  bool runs_user_function = false;        ///< the workers run a function of the program
  Listener* youngest_listener = nullptr;  ///< the head of their list
  // std::terminate ends these two, unless they are null, and then calls the handler from before.
  Bootstrap* bootstrap_to_abort = nullptr;
  Engine* engine_to_end = nullptr;
  std::terminate_handler terminate_handler = nullptr;
  /// This process was forked from one that had a Runtime. The parent's threads, channels and shared
  /// memory are not its own.
  bool is_fork = false;
};
extern CurrentRuntime current_runtime;

/// Sets the engine that `engine()` returns; null for none.
void set_engine(Engine* engine);

/// Makes sure that a process forked from this one has no Runtime: a call of Tessera throws there,
/// and its end leaves the parent's job alone. Later calls do nothing.
void leave_runtime_to_parent_in_forks();
/// Throws: UsageError in such a process.
void refuse_in_fork();

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
