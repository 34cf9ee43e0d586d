#pragma once
/// @file
/// The plan of an operation made ready to run on this process.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/execution/compiled_statement.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera {

/// A step whose channels are open.
struct CompiledStep {
  std::size_t statement = 0;  ///< of the operation
  std::uint64_t place = 0;    ///< as OperationSteps::Step
  std::shared_ptr<CompiledStatement> plan;
};

/// An operation, ready to run on this process.
struct CompiledOperation {
  std::vector<CompiledStep> steps;
  std::int64_t device_bytes = 0;  ///< as LoweredOperation
  std::int64_t messages = 0;      ///< sent by these devices
  std::int64_t bytes = 0;
};

/// A plan's explanation for an operation that it serves: its steps together, one entry for each
/// array that its statements read. What is said of an array comes from the steps of this process.
[[nodiscard]] Explanation explanation_of(CompiledOperation const& plan, Operation const& operation);

}  // namespace tessera
