#pragma once
/// @file
/// Memory of a host device.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// What `poison` writes into every 8 bytes: as a double a signalling NaN, and either half as a
/// float a NaN too (the low half signalling, the high half quiet: a double's exponent covers a
/// float's quiet bit, so no pattern can have three signalling ones). As an integer it is a number
/// nobody expects.
inline constexpr std::uint64_t poison_pattern = 0x7ff4'dead'7fa0'deadULL;

/// Writes `poison_pattern` over memory that nobody may read before writing it, so that a stale or
/// padding cell shows in a result. Does nothing in builds without TESSERA_POISON.
/// Threads: any.
void poison(std::byte* data, std::int64_t size_bytes);

/// True in builds with TESSERA_POISON.
[[nodiscard]] bool poisons_memory();

/// A block of host memory with one owner, which is this unless it is borrowed; aligned to 64 bytes,
/// or to 2 MiB with huge pages asked for if it has at least 4 MiB.
///
/// The memory is not touched here: its pages come to lie where the worker that first writes them
/// runs. In builds with TESSERA_POISON it is filled with poison.
class HostMemory {
 public:
  /// No memory: data() is null.
  HostMemory() = default;
  /// Throws: DeviceError, naming the size, if it is negative or cannot be had.
  explicit HostMemory(std::int64_t size_bytes);
  /// Memory that somebody else owns and keeps; it is not touched.
  [[nodiscard]] static HostMemory borrowed(std::byte* data, std::int64_t size_bytes);
  ~HostMemory();
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  HostMemory(HostMemory const&) = delete;
  HostMemory& operator=(HostMemory const&) = delete;

  /// Null if size_bytes() is 0.
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] std::byte const* data() const { return data_; }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }

 private:
  void release() noexcept;

  std::byte* data_ = nullptr;
  std::int64_t size_bytes_ = 0;
  bool is_borrowed_ = false;
};

}  // namespace tessera
