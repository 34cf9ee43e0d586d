#pragma once
/// @file
/// Host collectives along the tree of the processes' first devices.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "src/device/caches.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/one_sided/host_collectives.hpp"
#include "src/execution/reduction_tree.hpp"
#include "src/job/job.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/dispatcher.hpp"
#include "src/runtime/devices/failure_policy.hpp"
#include "src/runtime/statements/statement_log.hpp"

namespace tessera {

/// A call of one of these by the program counts as a host access, and listeners hear of it.
///
/// Ranks:   collective over the job, in the same order on every process, except for what
///          HostCollectives calls local.
/// Threads: the caller's.
class TreeCollectives final : public HostCollectives {
 public:
  /// The parts that it uses. Lifetime: longer than this.
  struct Tools {
    Job const& job;
    StatementLog& log;
    DevicePool& devices;
    ReductionTrees& trees;
    Dispatcher& dispatcher;
    FailurePolicy& failures;
  };
  explicit TreeCollectives(Tools const& tools) : tools_(tools) {}

  void or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                         Collective const& collective) override;
  void synchronize() override;
  void guarded(std::function<void()> const& f) override;

  /// The time in which all processes can meet, at best: what a message between neighbours takes or
  /// somewhat more. Equal on all of them; 0 in a job of one process. Measured the first time.
  /// Throws: PeerFailed, Mismatch.
  [[nodiscard]] double rendezvous_seconds();
  /// The least that the caches of any process are, so equal on all of them. Sent the first time.
  /// Throws: PeerFailed, Mismatch.
  [[nodiscard]] Caches least_caches();

  /// Replaces the bytes of every process by those of all combined. For code that is guarded.
  void combine(std::span<std::byte> bytes, CombineBytes how, Collective const& collective,
               SourceLocation const& location = {});

 private:
  [[nodiscard]] double measured_seconds();
  [[nodiscard]] Caches compared_caches();

  Tools tools_;
  std::optional<Caches> caches_;              ///< from their first use on
  std::optional<double> rendezvous_seconds_;  ///< likewise
};

}  // namespace tessera
