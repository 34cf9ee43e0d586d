#pragma once
/// @file
/// Communicators of GPUs: libraries by which they send to each other, on one host or several.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Bootstrap id of a GPU communicator; plain bytes.
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

/// Communicators that the program has joined and continues to own, each a pointer of their library.
struct GivenCommunicators {
  std::vector<void*> of_devices;  ///< one for each device of this process, or none
  std::string_view option;        ///< for people: by which the program gives them
};

/// Capabilities of GPU communicators.
struct GpuCommunicatorTraits {
  bool exists = false;
  bool shares_gpus = false;  ///< two members may be on one GPU
  bool spans_hosts = false;
  std::string reason = {};  ///< where they do not exist: "its library is not found"
};

}  // namespace tessera
