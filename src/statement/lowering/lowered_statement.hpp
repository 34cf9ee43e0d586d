#pragma once
/// @file
/// What the devices of a job do for a statement: boxes turned into strided blocks of memory, peers
/// named by their ids. No channel is open. What changes from one run to the next (which buffer is
/// current, the kernel's literals) is not in here.

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/index/index.hpp"
#include "tessera/plan/explanation.hpp"

#include "src/base/compact_list.hpp"
#include "src/index/strided_block.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// A shard that a device reads in a statement.
struct ReadBuffer {
  std::size_t operand = 0;
  std::size_t box = 0;  ///< which of the device's shards of that array

  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(box);
  }
  friend bool operator==(ReadBuffer const&, ReadBuffer const&) = default;
};

/// The memory from which a block's offset counts.
enum class Storage : std::uint8_t { shard, scratch, constant, target };

/// A part of a message: cells of one operand, in the shard, in the scratch area or in the target.
struct MessageBlock {
  StridedBlock block;
  std::int64_t bytes = 0;
  std::size_t operand = 0;
  Storage storage = Storage::shard;
  std::size_t buffer = 0;  ///< of a shard: which of the plan's; of the target: which of its writes

  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(block.offset_bytes);
    visit(buffer);
  }
  friend bool operator==(MessageBlock const&, MessageBlock const&) = default;
};

/// All that travels between a device and one peer in one exchange of a statement. The pair of
/// devices names the channel.
struct MessagePlan {
  DeviceId peer;
  std::int64_t bytes = 0;
  CompactList<MessageBlock> blocks;
};

/// Adds a block to the message to or from `peer`, which is the last of `messages` if it is there.
void add_block(std::vector<MessagePlan>& messages, DeviceId peer, MessageBlock block);

/// Cells that a device copies to a ghost cell, to the scratch area or to the target, once all
/// messages have come: from its own shard, or from elsewhere in the scratch area.
struct LocalCopy {
  BlockPair pair;
  std::size_t from = 0;              ///< of a shard: which of the plan's buffers
  Storage storage = Storage::shard;  ///< of the destination
  std::size_t to = 0;                ///< as MessageBlock::buffer
  bool non_temporal = false;         ///< what is copied exceeds the caches by far
  Storage source = Storage::shard;

  template <class Visit>
  void visit_steps(Visit const& visit) {
    pair.visit_steps(visit);
    visit(from);
    visit(to);
  }
  friend bool operator==(LocalCopy const&, LocalCopy const&) = default;
};

/// How a part reads one operand.
struct PartOperand {
  Storage storage = Storage::shard;
  std::int64_t offset_bytes = 0;  ///< of the part's first index
  Index strides;                  ///< in elements, per dimension of the statement
  std::size_t buffer = 0;         ///< of a shard: which of the plan's
  std::int64_t element_bytes = 0;

  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(offset_bytes);
    visit(buffer);
  }
  friend bool operator==(PartOperand const&, PartOperand const&) = default;
};

/// A box of indices over which every operand is one affine formula.
struct Part {
  Index first;
  Index extents;
  std::int64_t rows = 0;
  bool unit_stride = false;
  bool may_store_non_temporal = false;  ///< what it writes exceeds the caches and is not read
  bool is_staged = false;               ///< writes the scratch area: as its write
  std::int64_t target_offset_bytes = 0;
  Index target_strides;
  std::int64_t target_element_bytes = 0;
  std::size_t operand_count = 0;
  std::size_t write = 0;  ///< which of the plan's writes it is part of

  template <class Visit>
  void visit_steps(Visit const& visit) {
    for (auto& index : first) visit(index);
    visit(target_offset_bytes);
    visit(write);
  }
  friend bool operator==(Part const&, Part const&) = default;
};

/// How a device writes one box of the target.
struct BoxWrite {
  std::size_t box = 0;  ///< which of the device's shards of the target
  Box written;          ///< the smallest box around the cells written
  bool without_holes = true;
  bool swaps = false;   ///< writes the second buffer, which then becomes the current one
  bool staged = false;  ///< writes the scratch area, which is then copied to the target

  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(box);
    for (auto& lo : written.lo) visit(lo);
    for (auto& hi : written.hi) visit(hi);
  }
  friend bool operator==(BoxWrite const&, BoxWrite const&) = default;
};

/// The work of one device for a statement, without its messages. The boxes of a cyclic cut lie in
/// equal steps, and so do most lists.
struct DeviceWork {
  DeviceId device;
  CompactList<ReadBuffer> buffers;
  CompactList<LocalCopy> copies;
  CompactList<Part> parts;
  CompactList<PartOperand> operands;  ///< of the first part, of the second one, and so on
  CompactList<BoxWrite> writes;       ///< none without a target
  /// To the target, from the scratch area: one for each write that is staged, in their order.
  CompactList<BlockPair> stages;
  std::int64_t scratch_bytes = 0;
  bool whole_parts = false;   ///< the kernel takes all rows of a part at once
  bool non_temporal = false;  ///< data received straight into the target exceed the caches by far
};

/// Messages that a device exchanges with its peers: at most one to each, and one from each.
struct ExchangeMessages {
  std::vector<MessagePlan> sends;
  std::vector<MessagePlan> receives;
};

/// What one device does for a statement.
struct LoweredDevice : DeviceWork, ExchangeMessages {
  std::set<std::size_t> gathered;  ///< operands read through temporaries with others' cells
  /// Follows the other messages: cells that these brought to a device of a host.
  ExchangeMessages forwarded;
};

/// True if a device sends, receives or computes anything in its plan, a LoweredDevice or what was
/// made of one. What it forwards, it has received.
template <class Plan>
[[nodiscard]] bool has_work(Plan const& plan) {
  return !plan.sends.empty() || !plan.receives.empty() || !plan.forwarded.receives.empty() ||
         !plan.copies.empty() || !plan.parts.empty();
}

/// What a plan says of all its devices together.
struct StatementPlan {
  std::vector<std::shared_ptr<Fill const>> fills;  ///< per operand that is the first of its array
  bool overwrites = false;                         ///< it reads the target through another map than
                                                   ///< it writes it
  std::int64_t messages = 0;                       ///< sent by these devices
  std::int64_t bytes = 0;
  /// About how much memory the plan takes for a device: equal on every process.
  std::int64_t device_bytes = 0;
  std::set<std::size_t> gathered;  ///< by these devices
  /// Operands that any device reads through temporaries with cells of other devices. Negative until
  /// the processes have agreed on it, which takes a collective.
  std::int64_t gathers = 0;
  Explanation explanation;
  std::vector<std::shared_ptr<Layout const>> keeps;
};

/// A statement as some devices of a job carry it out. Its channels are still to be opened.
struct LoweredStatement : StatementPlan {
  std::vector<LoweredDevice> devices;
};

}  // namespace tessera
