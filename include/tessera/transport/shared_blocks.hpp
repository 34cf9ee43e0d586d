#pragma once
/// @file
/// Blocks of memory that the processes of a host show each other by numbers.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/ids.hpp"

namespace tessera {

class Beats;

/// Memory that other processes of the host may map, or such memory of one of them.
///
/// Lifetime: the memory stays until the last process that has mapped it lets it go; a block of this
///           process can be found by others as long as it lives.
class SharedBlock {
 public:
  virtual ~SharedBlock() = default;
  SharedBlock(SharedBlock const&) = delete;
  SharedBlock& operator=(SharedBlock const&) = delete;

  /// Aligned to 64 bytes; zeroes at first. Only what is touched takes memory.
  [[nodiscard]] virtual std::byte* data() const = 0;
  [[nodiscard]] virtual std::int64_t size_bytes() const = 0;

 protected:
  SharedBlock() = default;
};

/// The blocks of this process, in a directory that it shows to the others, and those of others.
///
/// Threads: `make` and `find` are for the caller's thread; a block may be dropped by any.
class SharedBlocks {
 public:
  /// How many blocks a process can show at once.
  static constexpr std::size_t most = 1024;

  explicit SharedBlocks(Beats& beats);
  ~SharedBlocks();
  SharedBlocks(SharedBlocks const&) = delete;
  SharedBlocks& operator=(SharedBlocks const&) = delete;

  /// Memory that the others find under a number, which is not 0.
  /// Throws: TransportError if the system gives none, or too many are shown.
  [[nodiscard]] std::shared_ptr<SharedBlock> make(std::uint64_t number, std::int64_t size_bytes);
  /// What `process` shows under a number: `known` if that is still the same. Null, with the reason
  /// in `why_not`, if it shows nothing or that cannot be mapped.
  [[nodiscard]] std::shared_ptr<SharedBlock> find(ProcessId process, std::uint64_t number,
                                                  std::shared_ptr<SharedBlock> const& known,
                                                  std::string& why_not);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  ///< blocks keep it
};

}  // namespace tessera
