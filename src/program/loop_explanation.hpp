#pragma once
/// @file
/// What is said of a loop's blocks.

#include "tessera/program/program.hpp"

#include "src/execution/loop.hpp"

namespace tessera {

/// Adds the tasks, messages and graphs of a block on this process's devices.
void explain_block(Loop const& loop, LoopExplanation& result);

}  // namespace tessera
