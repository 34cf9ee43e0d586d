#pragma once
/// @file
/// A plan made ready to run on this process: a lowered statement whose messages have their
/// channels.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/execution/pairs/pair_trials.hpp"
#include "src/execution/store_trial.hpp"
#include "src/statement/lowering/lowered_statement.hpp"
#include "src/transport/channel/channel.hpp"

namespace tessera {

struct GpuPeerChannel;
class MessagePath;

/// Names how a message travels between two devices. `connect` chooses it.
enum class PathKind : std::uint8_t {
  slots,         ///< the host packs it into the slots of the channel, and unpacks it there
  peer,          ///< from GPU to GPU, through memory that both reach
  communicator,  ///< by a library of the GPUs' own
  staged,        ///< a GPU packs it; the host carries it through pinned memory and the slots
};

/// A message between this device and one peer for one statement, and what carries it.
struct Message : MessagePlan {
  Sender* sender = nullptr;
  Receiver* receiver = nullptr;
  PathKind path = PathKind::slots;
  GpuPeerChannel* peer_channel = nullptr;  ///< of PathKind::peer
  std::optional<Route> gpu_route;          ///< where GPUs send without the host
  std::int64_t space_offset = 0;           ///< of its bytes in the space for a plan's messages
};

/// The messages of a device that take one path: a range of its sends and one of its receives.
struct PathUse {
  MessagePath const* path = nullptr;
  std::size_t first_send = 0;
  std::size_t send_count = 0;
  std::size_t first_receive = 0;
  std::size_t receive_count = 0;

  friend bool operator==(PathUse const&, PathUse const&) = default;
};

/// Messages that a device exchanges with its peers at once: at most one to each, and one from each.
struct Exchange {
  std::vector<Message> sends;
  std::vector<Message> receives;
  MessagePath const* path = nullptr;  ///< of all messages; null without any
  std::vector<PathUse> paths;         ///< where they take several: the messages are sorted by them
};

/// The work of one local device for a statement.
struct DevicePlan : DeviceWork, Exchange {
  Exchange forwarded;  ///< follows the other messages: cells that these brought
  std::unique_ptr<StoreTrials> store_trials;  ///< null if all stores go through the caches
  std::int64_t pair_bytes = 0;                ///< that it touches, if it may be one of a pair
  std::unique_ptr<PairTrials> pair_trials;    ///< null if it may not

  /// In the order in which they take place.
  [[nodiscard]] std::array<Exchange*, 2> exchanges() { return {this, &forwarded}; }
  [[nodiscard]] std::array<Exchange const*, 2> exchanges() const { return {this, &forwarded}; }
};

/// A statement, ready to run on this process once its channels are open.
struct CompiledStatement : StatementPlan {
  CompiledStatement() = default;
  /// Takes the plan over; its channels are still to be opened.
  explicit CompiledStatement(LoweredStatement&& lowered);

  std::vector<DevicePlan> devices;
};

/// For people: which stores the devices of this process use in a plan, for a kernel of these forms;
/// empty if there is no choice.
[[nodiscard]] std::string explain_stores(CompiledStatement const& plan, KernelForms const& forms);
/// For people: on which devices a statement runs in one pass with the one that follows it; empty if
/// on none.
[[nodiscard]] std::string explain_pairs(CompiledStatement const& plan, KernelForms const& forms);

}  // namespace tessera
