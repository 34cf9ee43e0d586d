#pragma once
/// @file
/// The parts of a runtime in a job of one process, without an engine.

#include <cstddef>
#include <cstdint>

#include "src/execution/gpu_channels/gpu_routes.hpp"
#include "src/execution/reduction_tree.hpp"
#include "src/runtime/array_allocator.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/dispatcher.hpp"
#include "src/runtime/devices/failure_policy.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/runtime/statements/statement_log.hpp"
#include "src/runtime/tree_collectives.hpp"

#include "support/one_process.hpp"

namespace tessera::test {

/// As an engine has them, with so many devices of the host.
struct RuntimeParts {
  explicit RuntimeParts(std::int64_t count)
      : process(count),
        local{count, DeviceKind::cpu, {static_cast<std::size_t>(count), shared_host_queue()}, {}} {}
  ~RuntimeParts() { devices.stop(); }
  RuntimeParts(RuntimeParts const&) = delete;
  RuntimeParts& operator=(RuntimeParts const&) = delete;

  OneProcess process;
  LocalDevices local;
  StatementLog log{process.network};
  DevicePool devices{*process.bootstrap, process.job, process.network, log, local};
  Profiler profiler{{}, process.job};
  ReductionTrees trees{process.job, process.network};
  GpuRoutes gpu_routes{
      {*process.bootstrap, process.job, process.network, devices.queue_contexts(), [] {}, {}}};
  FailurePolicy failures{process.job, process.network, devices, gpu_routes};
  Dispatcher dispatcher{devices, trees, profiler};
  TreeCollectives collectives{{process.job, log, devices, trees, dispatcher, failures}};
  ArrayAllocator arrays{process.job, devices, failures, 1};
};

}  // namespace tessera::test
