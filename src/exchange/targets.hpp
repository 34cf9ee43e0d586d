#pragma once
/// @file
/// Which buffers a statement writes.

#include <memory>
#include <vector>

#include "tessera/exchange/array_state.hpp"

#include "record.hpp"

namespace tessera {

/// Fills in what a record writes: swaps buffers where its plan says so, and keeps account of the
/// cells in which the two buffers of a shard differ.
/// Threads: the caller's.
class Targets {
 public:
  /// The writes of the record's plan; none without a target.
  void name(Record& record, std::shared_ptr<ArrayState> const& target, DeviceId device);

 private:
  void swap_buffers(Record& record, Shard& shard, ArrayState const& array, BoxWrite const& write);
  void carry_over(Record& record, Shard& shard, std::int64_t element_bytes, BoxWrite const& write);

  std::vector<Box> rest_;  ///< of carry_over, kept so that a step allocates nothing
};

}  // namespace tessera
