#pragma once
/// @file
/// How operations and loops reach the devices of the Runtime that lives; statements do so by
/// tessera/detail/runtime/submit.hpp.

#include <functional>

#include "tessera/base/ids.hpp"

#include "src/statement/statement.hpp"

namespace tessera {

struct Loop;
struct LoopRun;
struct Machine;
struct Operation;
namespace detail {

// These call the functions of Engine. All throw UsageError as `engine()` does.

/// Runs an operation as `submit` runs a statement.
/// Ranks:  collective.
/// Throws: as `submit` of a statement.
void submit(Operation const& operation);
/// As Engine::replay.
void replay(Statement const& statement);
void replay(Operation const& operation);
/// What plans of operations may depend on beside the arrays.
[[nodiscard]] Machine const& machine();
void run_on_local_devices(std::function<void(DeviceId)> const& f);
void open_loop_channels(Loop& loop);
void run_loop_blocks(LoopRun const& run);

}  // namespace detail
}  // namespace tessera
