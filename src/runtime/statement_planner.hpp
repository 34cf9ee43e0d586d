#pragma once
/// @file
/// Finds or makes the plans of statements and operations.

#include <cstdint>
#include <memory>

#include "src/execution/compiled_operation.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/execution/connection/connect.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/runtime/statements/plan_cache.hpp"
#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Threads: the caller's. A plan that is found allocates nothing.
class StatementPlanner {
 public:
  StatementPlanner(Job const& job, Machine const& machine, MessageTools const& messages,
                   DevicePool& devices, Profiler& profiler)
      : job_(job),
        forwarding_(Forwarding::in_job(machine)),
        messages_(messages),
        devices_(devices),
        profiler_(profiler) {}

  /// Computes the plan key of a statement, or of an operation. Later calls use this key.
  void describe(Statement const& statement) { key_.describe(statement); }
  void describe(Operation const& operation);
  /// Returns a hash of everything that must be equal on every process.
  [[nodiscard]] std::uint64_t hash_of(Statement const& statement) const;
  [[nodiscard]] std::uint64_t hash_of(Operation const& operation) const;
  /// Returns the statement's plan, with scratch memory for it. Valid until the next call.
  /// Ranks:  collective over the processes of the devices involved, if channels are new.
  /// Throws: PeerFailed, Mismatch, DeviceError.
  [[nodiscard]] std::shared_ptr<CompiledStatement> const& plan_for(Statement const& statement,
                                                                   StatementTag const& tag);
  /// The same of an operation, with scratch memory for its largest step.
  [[nodiscard]] CompiledOperation const& plan_for(Operation const& operation,
                                                  StatementTag const& tag);

 private:
  [[nodiscard]] DeviceSpan local_devices() const {
    return {job_.first_local(), job_.local_count()};
  }

  Job const& job_;
  Forwarding forwarding_;
  MessageTools messages_;
  DevicePool& devices_;
  Profiler& profiler_;
  PlanKey key_;
  PlanCache cache_{job_.most_local_count()};
};

}  // namespace tessera
