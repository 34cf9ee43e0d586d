#pragma once
/// @file
/// GPUs of this machine, and what they share with those of other processes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/queue.hpp"

struct ncclComm;  // NCCL's ncclComm_t is a pointer to one

namespace tessera {

/// The name of Queue before it also served the host.
using GpuStream = Queue;

/// A handle by which another process of this host opens memory or an event of a GPU; plain bytes.
struct GpuHandle {
  std::array<std::byte, 64> bytes{};
};

/// Bootstrap id of a GPU communicator (as ncclUniqueId); plain bytes.
struct GpuCommunicatorId {
  std::array<std::byte, 128> bytes{};
};

/// One member of a GPU communicator: a set of devices, on one host or several, that send to each
/// other by a library for GPUs. Each member has a rank and uses one stream.
///
/// All messages that a member submits between `begin` and `end` form one operation in the order of
/// its stream. The operation ends when the peers have submitted the matching messages. Messages
/// between two members carry no tags, so both must submit them in the same order and with equal
/// lengths.
///
/// Threads: one at a time.
/// Throws:  DeviceError, from any call.
class GpuCommunicator {
 public:
  GpuCommunicator() = default;
  /// Aborts the member's unfinished operations; the other members may then wait for ever.
  virtual ~GpuCommunicator() = default;
  GpuCommunicator(GpuCommunicator const&) = delete;
  GpuCommunicator& operator=(GpuCommunicator const&) = delete;

  /// Whether the member has joined and its last operation has been queued on its stream. Until
  /// then, make no other call and submit no work to the stream.
  [[nodiscard]] virtual bool is_ready() = 0;
  virtual void begin() = 0;
  /// Bytes in memory of the GPU to the member `rank`.
  virtual void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) = 0;
  /// Bytes of the member `rank` to memory of the GPU.
  virtual void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) = 0;
  virtual void end() = 0;
  /// Aborts as the destructor does, but earlier: from now on no call waits for other members.
  virtual void abandon() noexcept = 0;
};

/// Kinds of memory that libraries tell apart when they send.
enum class MemoryKind : std::uint8_t { host, cuda };

/// Capabilities of GPU communicators.
struct GpuCommunicatorTraits {
  bool exists = false;
  bool shares_gpus = false;  ///< two members may be on one GPU
  bool spans_hosts = false;
  std::string why_not = {};  ///< where they do not exist: "libnccl.so.2 is not found"
};

/// Memory and events that the GPU of a stream shares with other processes. Opened memory and events
/// must end before the originals; the other process ensures that.
///
/// Throws: DeviceError, where the other process or its GPU cannot be reached too.
class GpuPeers {
 public:
  GpuPeers() = default;
  virtual ~GpuPeers() = default;
  GpuPeers(GpuPeers const&) = delete;
  GpuPeers& operator=(GpuPeers const&) = delete;

  /// An id that is unique per physical GPU on this host.
  [[nodiscard]] virtual std::uint64_t gpu_identity() const = 0;

  /// Memory of the GPU that other processes of this host may open.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> share_memory(std::int64_t size_bytes,
                                                                   GpuHandle& handle) = 0;
  /// Such memory of another process, of the length that it has.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> open_memory(GpuHandle const& handle,
                                                                  std::int64_t size_bytes) = 0;
  /// Whether kernels of the stream may write into memory that it opened; else copies do.
  [[nodiscard]] virtual bool stores_to(DeviceBuffer const& opened) const = 0;

  /// An event that this process records and another process waits for. The other process must know
  /// of the recording: a wait refers to the last recording at the time of the call.
  [[nodiscard]] virtual std::unique_ptr<GpuEvent> share_event(GpuHandle& handle) = 0;
  /// Such an event of another process, for waits.
  [[nodiscard]] virtual std::unique_ptr<GpuEvent> open_event(GpuHandle const& handle) = 0;

  /// Memory of the GPU that host libraries can also reach, such as those that send between hosts;
  /// memory of a pool may be hidden from them.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> make_plain_memory(
      std::int64_t size_bytes) = 0;
  /// The kind of memory that such libraries take it for.
  [[nodiscard]] virtual MemoryKind library_memory() const = 0;
  /// Makes the GPU the calling thread's current one, as such libraries require.
  virtual void make_current() = 0;
  /// The address that such libraries must use for an address in memory of the GPU.
  [[nodiscard]] virtual std::byte* address_for_others(std::byte const* address) const = 0;

  [[nodiscard]] virtual GpuCommunicatorTraits communicator_traits() const = 0;
  /// Makes the bootstrap id of a communicator of `members` devices. Only if GPU communicators are
  /// available. Lifetime: valid at least until the process that made it ends.
  [[nodiscard]] virtual GpuCommunicatorId make_group_id(std::int64_t members) = 0;
  /// Begins to join a communicator of `members` members with these streams of this process, whose
  /// ranks begin at `first_rank`; all members must join. Only if GPU communicators are available.
  [[nodiscard]] virtual std::vector<std::unique_ptr<GpuCommunicator>> join_communicator(
      GpuCommunicatorId const& id, std::int64_t first_rank, std::int64_t members,
      std::span<GpuStream* const> streams) = 0;
  /// The same with NCCL communicators that the program has joined and continues to own. Throws if
  /// their members have other ranks or other GPUs than these streams.
  [[nodiscard]] virtual std::vector<std::unique_ptr<GpuCommunicator>> adopt_communicator(
      std::span<ncclComm* const> communicators, std::int64_t first_rank, std::int64_t members,
      std::span<GpuStream* const> streams) = 0;
};
/// What is known of a GPU, for people.
struct GpuFacts {
  std::string name;               ///< "NVIDIA H200"
  std::string bus;                ///< its place on the bus, as "0000:1b:00.0"
  std::int64_t memory_bytes = 0;  ///< in all
  int multiprocessors = 0;
};

/// The GPUs of this machine that the process may use, counted from 0.
class GpuDriver {
 public:
  GpuDriver() = default;
  virtual ~GpuDriver() = default;
  GpuDriver(GpuDriver const&) = delete;
  GpuDriver& operator=(GpuDriver const&) = delete;

  /// The driver's name: "cuda" or "emulated".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Throws: DeviceError.
  [[nodiscard]] virtual GpuFacts facts(int gpu) const = 0;
  /// A stream of its own for a device; several devices may share a GPU.
  /// Throws: DeviceError.
  [[nodiscard]] virtual std::shared_ptr<GpuStream> make_stream(int gpu) = 0;
};

/// The GPUs that the CUDA driver shows: `count()` is 0 where there is no driver or no GPU.
/// Throws: BackendNotBuilt where TESSERA_WITH_CUDA is off.
[[nodiscard]] std::unique_ptr<GpuDriver> make_cuda_driver();
/// True in builds with TESSERA_WITH_CUDA.
[[nodiscard]] bool has_cuda_driver();

/// Two emulated GPUs, neither of which stores into the other's memory, with a host thread for each
/// stream. The rest of the program cannot touch their memory: an access ends in SIGSEGV.
[[nodiscard]] std::unique_ptr<GpuDriver> make_emulated_driver();

}  // namespace tessera
