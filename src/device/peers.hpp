#pragma once
/// @file
/// What the GPUs of a process share with those of other processes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/device/communicator.hpp"
#include "src/device/queue.hpp"

namespace tessera {

/// A handle by which another process of this host opens memory or an event of a GPU; plain bytes.
struct GpuHandle {
  std::array<std::byte, 64> bytes{};
};

/// Kinds of memory that libraries tell apart when they send.
enum class MemoryKind : std::uint8_t { host, gpu };

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
      std::span<Queue* const> streams) = 0;
  /// The same with communicators of the program, as of GivenCommunicators::of_devices. Throws if
  /// their members have other ranks or other GPUs than these streams.
  [[nodiscard]] virtual std::vector<std::unique_ptr<GpuCommunicator>> adopt_communicator(
      std::span<void* const> communicators, std::int64_t first_rank, std::int64_t members,
      std::span<Queue* const> streams) = 0;
};

}  // namespace tessera
