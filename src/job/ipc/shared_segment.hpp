#pragma once
/// @file
/// Memory that several processes of a host share.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tessera {

/// The data that another process needs to map a segment.
struct SegmentTicket {
  std::int64_t pid = 0;
  std::int64_t descriptor = -1;  ///< in the process that made it
  std::int64_t size_bytes = 0;   ///< without the nonce in front
  std::uint64_t nonce = 0;
  std::uint64_t descriptor_server =
      0;  ///< of the process that made it, see DescriptorServer; 0 for none
};

/// The ways to the memory of another process, in the order in which they are tried.
struct SegmentWays {
  bool by_proc = true;    ///< /proc/<pid>/fd/<descriptor>
  bool by_socket = true;  ///< asking its descriptor server
};

/// A mapped memfd. It has no name in any file system, so nothing remains of it, however the
/// processes end. Other processes open it as /proc/<pid>/fd/<descriptor>, or receive the descriptor
/// through a socket if that path does not lead to it.
///
/// Lifetime: the memory stays until the last process has unmapped it.
class Segment {
 public:
  enum class MapMode : std::uint8_t { read, read_write };

  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  /// Makes a segment of zeroes. Throws: TransportError if the system refuses.
  /// Cost: memory is taken when it is first touched.
  [[nodiscard]] static Segment make(std::int64_t size_bytes);
  /// Maps a segment of another process of this host. If that fails, or finds another segment, the
  /// result holds no memory and `reason` gives the reason.
  [[nodiscard]] static Segment map(SegmentTicket const& ticket, MapMode mode, std::string& reason,
                                   SegmentWays ways = {});

  [[nodiscard]] explicit operator bool() const { return base_ != nullptr; }
  [[nodiscard]] std::byte* data() const;  ///< 64-byte aligned
  [[nodiscard]] std::int64_t size_bytes() const { return ticket_.size_bytes; }
  [[nodiscard]] SegmentTicket const& ticket() const { return ticket_; }
  /// Sets the descriptor server for processes that cannot reach this memory through /proc.
  void set_descriptor_server(std::uint64_t descriptor_server) {
    ticket_.descriptor_server = descriptor_server;
  }

  /// From now on no further process can map it; existing mappings stay.
  void close_descriptor();

 private:
  void swap(Segment& other) noexcept;

  std::byte* base_ = nullptr;
  SegmentTicket ticket_;
  bool owns_descriptor_ = false;
};

}  // namespace tessera
