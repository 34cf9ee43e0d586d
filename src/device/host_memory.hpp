#pragma once
/// @file
/// Memory of a host device.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera {

/// The pattern that `poison` writes into every 8 bytes. As a double it is a signalling NaN, and
/// each half as a float is a NaN too (the low half signalling, the high half quiet: a double's
/// exponent covers a float's quiet bit, so no pattern can have three signalling ones). As an
/// integer it is an implausible number.
inline constexpr std::uint64_t poison_pattern = 0x7ff4'dead'7fa0'deadULL;

/// Writes `poison_pattern` over memory that must be written before it is read, so that a stale or
/// padding cell shows in a result. Does nothing in builds without TESSERA_POISON.
/// Threads: any.
void poison(std::byte* data, std::int64_t size_bytes);

/// True in builds with TESSERA_POISON.
[[nodiscard]] bool poisons_memory();

/// A block of host memory. This object owns it, unless it is borrowed. It is aligned to 64 bytes,
/// or, if it has at least 4 MiB, to 2 MiB with a request for huge pages.
///
/// The constructor does not touch the memory: the system places its pages near the worker that
/// first writes them. In builds with TESSERA_POISON it is filled with poison.
class HostMemory {
 public:
  /// No memory: data() is null.
  HostMemory() = default;
  /// Throws: DeviceError, naming the size, if it is negative or cannot be had.
  explicit HostMemory(std::int64_t size_bytes);
  /// Memory that another object owns and keeps; it is not touched.
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
