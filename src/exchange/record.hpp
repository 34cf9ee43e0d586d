#pragma once
/// @file
/// One statement on one device, with everything that changes from run to run filled in.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tessera/base/inline_vector.hpp"
#include "tessera/device/memory.hpp"
#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/transport/waiter.hpp"

#include "gpu_side.hpp"
#include "probe.hpp"

namespace tessera {

/// The neighbours of a device in the tree by which reductions meet: partial results go up, the
/// value comes down.
struct TreeLinks {
  Sender* to_parent = nullptr;
  Receiver* from_parent = nullptr;
  std::vector<Receiver*> from_children;
  std::vector<Sender*> to_children;
};

/// Cells that go from one buffer of a shard to the other, where they lie alike.
struct Carry {
  StridedBlock block;
  std::byte const* from = nullptr;
  std::byte* to = nullptr;
};

/// Preallocated: filling one in and running it allocates nothing once its vectors have grown.
///
/// Threads: written by the caller's thread while the slot is free, then the worker's until it is
/// done.
struct Record {
  enum class Kind : std::uint8_t { statement, call };
  Kind kind = Kind::statement;
  StatementTag tag;
  DeviceId device;
  Waiter* waiter = nullptr;
  GpuSide* gpu = nullptr;  ///< null on the host

  /// False where it runs at once on the caller's thread: then the statement keeps alive what it
  /// names.
  bool outlives_statement = true;
  std::shared_ptr<CompiledStatement> compiled;  ///< keeps `plan` alive
  DevicePlan const* plan = nullptr;
  KernelForms forms;
  std::int64_t step = 0;  ///< of the loop
  HostMemory kernel;      ///< a copy of the statement's
  std::int64_t kernel_bytes = 0;
  std::int64_t copied_bytes = 0;    ///< of an element, where the kernel copies them; else 0
  std::vector<std::byte*> buffers;  ///< read: one for each of the plan's
  std::vector<std::byte const*> scalars;
  std::vector<std::byte*> targets;  ///< written: one for each of the plan's writes
  std::byte* scratch = nullptr;
  std::vector<Carry> carry;  ///< untouched cells
  Reduction reduction;
  std::byte* accumulator = nullptr;
  std::byte* result = nullptr;
  TreeLinks* tree = nullptr;
  std::vector<std::shared_ptr<void>> keeps;  ///< arrays and scalars that the record names

  std::function<void(Record&)> const* call = nullptr;

  /// Keeps an array or a scalar alive until it has run.
  template <class T>
  void keep(std::shared_ptr<T> const& named) {
    if (outlives_statement) keeps.push_back(named);
  }

  Probe* probe = nullptr;  ///< where somebody looks at what the time is spent on
  std::size_t row = 0;     ///< of the probe
};

/// Runs a record on its device's thread.
/// Throws: PeerFailed, Mismatch, and what a kernel throws.
void execute(Record& record);

/// Only what a statement does before it computes: sends, receives and copies what the record's plan
/// says.
/// Throws: PeerFailed, Mismatch.
void exchange_cells(Record& record);
/// The same in two halves, between which the device may change its own cells: only where the
/// channels hold whole messages.
[[nodiscard]] bool channels_hold_messages(DevicePlan const& plan);
void send_cells(Record& record);
void receive_cells(Record& record);
/// Where the bytes of a block lie, at which its offset counts.
[[nodiscard]] std::byte* base_of(Record const& record, Storage storage, std::size_t buffer);

/// What a kernel is told for a part of a record's plan.
struct PartCall {
  PartCall(Record const& record, Part const& part);
  PartCall(PartCall const&) = delete;
  PartCall& operator=(PartCall const&) = delete;

  KernelCall call;

 private:
  InlineVector<LeafView, max_leaves> leaves_;
};

/// Of a reduction: this device's accumulator up the tree, and the value down.
/// Throws: PeerFailed, Mismatch.
void meet(Record& record);

/// What the time since the last call went to, where somebody looks.
void note_phase(Record& record, Phase phase);

/// `into` meets `from`, of equal lengths.
using CombineBytes = void (*)(std::span<std::byte> into, std::span<std::byte const> from);

/// Combines `bytes` up the tree, in pieces of a multiple of 128 bytes, and brings the result down
/// to everybody.
void combine_along_tree(Record& record, std::span<std::byte> bytes, CombineBytes combine);
/// Bitwise or; and of each pair of std::int64_t the larger one, or the sum.
void or_bytes(std::span<std::byte> into, std::span<std::byte const> from);
void max_numbers(std::span<std::byte> into, std::span<std::byte const> from);
void add_numbers(std::span<std::byte> into, std::span<std::byte const> from);

}  // namespace tessera
