#pragma once
/// @file
/// The dependences between instances of a block.

#include <vector>

#include "src/plan/block_schedule.hpp"

namespace tessera {

/// An instance, with what it reads.
struct InstanceReads {
  BlockInstance const& instance;
  std::vector<BlockReach> reads;
};

/// Calls visit(lowest, highest) for each buffer that two instances of a block touch and at least
/// one of them writes: before `later` computes a cell, `earlier` must have computed its cells
/// between `lowest` and `highest` away.
template <class Visit>
void visit_dependences(InstanceReads const& earlier, InstanceReads const& later,
                       Visit const& visit) {
  auto const& written = earlier.instance.target;
  auto const& target = later.instance.target;
  for (auto const& read : later.reads)
    if (read.buffer == written) visit(read.lowest, read.highest);
  // The cells that read the overwritten cell lie at the opposite distances.
  for (auto const& read : earlier.reads) {
    if (!(read.buffer == target)) continue;
    auto lowest = read.highest;
    auto highest = read.lowest;
    for (std::size_t d = 0; d < lowest.size(); ++d) {
      lowest[d] = -lowest[d];
      highest[d] = -highest[d];
    }
    visit(lowest, highest);
  }
  if (written && written == target) {
    Index const same_cell(later.instance.skew.size(), 0);
    visit(same_cell, same_cell);
  }
}

}  // namespace tessera
