#pragma once
/// @file
/// The memory of emulated GPUs.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace tessera::emulated {

/// The memory that streams allocate on one GPU, in two ranges of addresses: programs get addresses
/// that cannot be read, and the streams' threads use the accessible ones. Threads: any.
class Arena {
 public:
  /// Throws: DeviceError.
  Arena();
  ~Arena();
  Arena(Arena const&) = delete;
  Arena& operator=(Arena const&) = delete;

  /// Null if there is not enough memory. Throws: DeviceError if the host has no memory.
  [[nodiscard]] std::byte* allocate(std::int64_t bytes);
  void release(std::byte const* memory);

  [[nodiscard]] bool holds(std::byte const* address) const;
  /// The accessible address for an address of this arena.
  [[nodiscard]] std::byte* reach(std::byte const* address) const;

 private:
  void make_reachable(std::int64_t bytes);

  std::byte* told_;
  std::byte* reached_;
  std::mutex mutex_;
  std::int64_t used_ = 0;
  std::int64_t reachable_ = 0;
  std::map<std::int64_t, std::int64_t> free_;     // length by start
  std::map<std::int64_t, std::int64_t> lengths_;  // of what is given
};

/// Memory outside the arenas: of other processes, or shared with them.
struct Range {
  std::size_t gpu = 0;
  std::byte* reached = nullptr;
  std::int64_t size_bytes = 0;
};

/// The memory of all GPUs of the machine, as far as this process knows of it. Threads: any.
class Memory {
 public:
  static constexpr std::size_t gpu_count = 2;

  [[nodiscard]] Arena& arena(std::size_t gpu) { return arenas_[gpu]; }

  /// The addresses by which programs name a range. Throws: DeviceError.
  [[nodiscard]] std::byte* tell(Range const& range);
  void forget(std::byte const* told);

  /// The GPU whose memory contains an address; none for host memory.
  [[nodiscard]] std::optional<std::size_t> gpu_of(std::byte const* address) const;
  /// The address that streams' threads use; a host address is returned unchanged.
  [[nodiscard]] std::byte* reach(std::byte const* address) const;

 private:
  [[nodiscard]] std::optional<Range> range_at(std::byte const* address) const;

  std::array<Arena, gpu_count> arenas_;
  mutable std::mutex mutex_;
  std::map<std::byte const*, Range> ranges_;  // by the programs' addresses
};

}  // namespace tessera::emulated
