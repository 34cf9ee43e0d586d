#pragma once
/// @file
/// How statements and loops reach the devices of the Runtime that lives.

#include <functional>

#include "tessera/base/ids.hpp"

#include "src/statement/statement.hpp"

namespace tessera {

struct Loop;
struct LoopRun;
namespace detail {

// These call the functions of Engine. All throw UsageError as `engine()` does.

void run_on_local_devices(std::function<void(DeviceId)> const& f);
void open_loop_channels(Loop& loop);
void run_loop_blocks(LoopRun const& run);

}  // namespace detail
}  // namespace tessera
