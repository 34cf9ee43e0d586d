#pragma once
/// @file
/// A plan made ready to run: boxes turned into strided blocks of memory, peers into channels. What
/// changes from one run to the next (which buffer is current, the kernel's literals) is not in
/// here.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/device/strided.hpp"
#include "tessera/exchange/statement.hpp"
#include "tessera/plan/exchange_plan.hpp"
#include "tessera/plan/explanation.hpp"
#include "tessera/transport/network.hpp"

namespace tessera {

/// A shard that a device reads in a statement.
struct ReadBuffer {
  std::size_t leaf = 0;
  std::size_t box = 0;  ///< which of the device's shards of that array
};

/// Whose memory a block's offset counts from.
enum class Storage : std::uint8_t { shard, scratch, constant, target };

/// A run of a message: cells of one leaf, in the shard, in the scratch area or where the target has
/// them.
struct MessageBlock {
  StridedBlock block;
  std::int64_t bytes = 0;
  std::size_t leaf = 0;
  Storage storage = Storage::shard;
  std::size_t buffer = 0;  ///< of a shard: which of the plan's; of the target: which of its writes
};

struct GpuLane;

/// All that travels between this device and one peer for one statement.
struct Message {
  DeviceId peer;
  Sender* sender = nullptr;
  Receiver* receiver = nullptr;
  GpuLane* lane = nullptr;           ///< between GPUs that reach memory of one of them
  std::optional<Route> group_route;  ///< between GPUs that send by their group
  std::int64_t bytes = 0;
  std::vector<MessageBlock> blocks;

  [[nodiscard]] bool in_group() const { return group_route.has_value(); }
};

/// Cells that a device copies from its own shard to a ghost cell, to the scratch area or to the
/// target.
struct LocalCopy {
  BlockPair pair;
  std::size_t from = 0;              ///< which of the plan's buffers
  Storage storage = Storage::shard;  ///< of the destination
  std::size_t to = 0;                ///< as MessageBlock::buffer
};

/// How a part reads one leaf.
struct PartLeaf {
  Storage storage = Storage::shard;
  std::int64_t offset_bytes = 0;  ///< of the part's first index
  Index strides;                  ///< in elements, per dimension of the statement
  std::size_t buffer = 0;         ///< of a shard: which of the plan's
};

/// A box of indices over which every leaf is one formula.
struct Part {
  Index first;
  Index extents;
  std::int64_t rows = 0;
  bool unit_stride = false;
  bool past_caches = false;  ///< its rows are longer than caches remember, and nobody reads them
  std::int64_t target_offset_bytes = 0;
  Index target_strides;
  std::vector<PartLeaf> leaves;
  std::size_t write = 0;  ///< which of the plan's writes it is part of
};

/// What a device writes into one box of the target.
struct BoxWrite {
  std::size_t box = 0;  ///< which of the device's shards of the target
  Box written;          ///< the smallest box around the cells written
  bool without_holes = true;
  bool swaps = false;   ///< writes the second buffer, which then becomes the current one
  bool staged = false;  ///< writes the scratch area, which is then copied to the target
  BlockPair stage;      ///< to the target, from the scratch area
};

/// What one local device does for a statement.
struct DevicePlan {
  DeviceId device;
  std::vector<ReadBuffer> buffers;
  std::vector<Message> sends;
  std::vector<Message> receives;
  std::vector<LocalCopy> copies;
  std::vector<Part> parts;
  std::vector<BoxWrite> writes;  ///< none without a target
  std::int64_t scratch_bytes = 0;
  bool whole_parts = false;  ///< the kernel takes all rows of a part at once
  bool past_caches = false;  ///< what is received and copied is far larger than the caches
};

/// A statement, ready to run on this process.
struct CompiledStatement {
  std::vector<DevicePlan> devices;
  std::vector<std::shared_ptr<Fill const>> fills;  ///< per leaf that is the first of its array
  bool overwrites = false;                         ///< reads what it writes through another map
  std::int64_t messages = 0;                       ///< sent by this process's devices
  std::int64_t bytes = 0;
  /// Leaves read through temporaries with cells of other devices, on whichever device; negative
  /// while the processes have not agreed on it, which takes a collective.
  std::int64_t gathers = 0;
  Explanation explanation;
  std::vector<std::shared_ptr<Layout const>> keeps;
};

}  // namespace tessera
