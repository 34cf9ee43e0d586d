#pragma once
/// @file
/// A job of one process beside the program's own, for parts of the runtime that need one.

#include <cstdint>
#include <memory>
#include <vector>

#include "src/execution/storage/array_state.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"

namespace tessera::test {

/// Its devices are of the host. No Runtime knows of it.
struct OneProcess {
  explicit OneProcess(std::int64_t devices) : job(*bootstrap, devices) {}

  /// An array of 8-byte cells.
  [[nodiscard]] std::shared_ptr<ArrayState> array(NamedSharding const& sharding, Shape const& shape,
                                                  std::uint64_t number = 1) const {
    std::vector<LocalDevice> local;
    for (std::int64_t i = 0; i < job.local_count(); ++i)
      local.push_back({DeviceId{i}, shared_host_queue()});
    return std::make_shared<ArrayState>(std::make_shared<Layout const>(sharding, shape), 8, number,
                                        local);
  }

  std::unique_ptr<Bootstrap> bootstrap = make_single_bootstrap();
  Job job;
  Network network{*bootstrap, job, {}};
};

}  // namespace tessera::test
