#pragma once
/// @file
/// Blocks of memory that the processes of a host share by numbers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/ids.hpp"

namespace tessera {

struct SegmentDirectory;

/// Memory that other processes of the host may map, or such memory of one of them.
///
/// Lifetime: the memory stays until the last process has unmapped it; others can find a block of
///           this process as long as the object exists.
class SharedBlock {
 public:
  virtual ~SharedBlock() = default;
  SharedBlock(SharedBlock const&) = delete;
  SharedBlock& operator=(SharedBlock const&) = delete;

  /// Aligned to 64 bytes; initially zero. Only touched pages take memory.
  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual std::int64_t size_bytes() const = 0;

 protected:
  SharedBlock() = default;
};

/// The blocks of this process, in a directory that other processes can read, and blocks of other
/// processes.
///
/// Threads: only the caller's thread calls `make` and `find`; any thread may drop a block.
class SharedBlocks {
 public:
  /// The largest number of blocks that a process can share at once.
  static constexpr std::size_t most = 1024;

  /// `directory` tells how the processes of the host find each other's blocks.
  explicit SharedBlocks(SegmentDirectory directory);
  ~SharedBlocks();
  SharedBlocks(SharedBlocks const&) = delete;
  SharedBlocks& operator=(SharedBlocks const&) = delete;

  /// Allocates memory that other processes find by its number, which is not 0.
  /// Throws: TransportError if the system provides no memory, or too many blocks are shared.
  [[nodiscard]] std::shared_ptr<SharedBlock> make(std::uint64_t number, std::int64_t size_bytes);
  /// The block that `process` shares under a number: `known` if that is still the same. Null, with
  /// the reason in `reason`, if there is no such block or it cannot be mapped.
  [[nodiscard]] std::shared_ptr<SharedBlock> find(ProcessId process, std::uint64_t number,
                                                  std::shared_ptr<SharedBlock> const& known,
                                                  std::string& reason);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< kept alive by blocks
};

}  // namespace tessera
