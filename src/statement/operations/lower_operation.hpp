#pragma once
/// @file
/// From an operation to what devices do. Arithmetic, as the lowering of statements.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/statement/lowering/lowered_statement.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera {

/// A step as some devices of a job carry it out. Its channels are still to be opened.
struct LoweredStep {
  std::size_t statement = 0;  ///< of the operation
  std::uint64_t place = 0;    ///< as OperationSteps::Step
  LoweredStatement plan;
};

/// An operation as some devices of a job carry it out.
struct LoweredOperation {
  std::vector<LoweredStep> steps;  ///< in which one of the devices takes part
  /// About how much memory the plan takes for a device: equal on every process.
  std::int64_t device_bytes = 0;
};

/// Steps give arrays no ghost cells: what a device lacks comes to temporaries.
/// Cost: O(devices · their steps), whatever the number of devices of the job.
[[nodiscard]] LoweredOperation lower_operation(Operation const& operation,
                                               DeviceSpan const& devices,
                                               Forwarding const& forwarding = {});

}  // namespace tessera
