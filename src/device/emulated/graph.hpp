#pragma once
/// @file
/// Graphs of emulated GPUs.

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/device/queue.hpp"

namespace tessera::emulated {

class Graph final : public GpuGraph {
 public:
  using Work = std::vector<std::function<void()>>;
  explicit Graph(std::shared_ptr<Work const> work) : work_(std::move(work)) {}

  [[nodiscard]] std::shared_ptr<Work const> const& work() const { return work_; }

 private:
  std::shared_ptr<Work const> work_;  // of runs under way as well
};

}  // namespace tessera::emulated
