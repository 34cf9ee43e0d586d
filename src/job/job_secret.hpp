#pragma once
/// @file
/// The secret of a job: what its processes know and nobody else does. Bytes that come from a
/// network are believed only if they carry a code that takes the secret to make.

#include <cstdint>

#include "tessera/base/ids.hpp"

#include "src/base/siphash.hpp"
#include "src/job/bootstrap.hpp"

namespace tessera {

/// What a key is for. A code that was made for one purpose is none for another.
enum class KeyPurpose : std::uint8_t {
  network,    ///< the number of a network, which is sent in the open
  guest,      ///< a process that asks for a worker's address
  address,    ///< the address that it gets
  request,    ///< a call of another process
  answer,     ///< its answer
  tag,        ///< the tag of a channel's messages
  message,    ///< the header of a channel's message
  question,   ///< a heartbeat: whether a process lives
  heartbeat,  ///< its answer
};

/// 128 random bits, equal on all processes of a network, and keys that are derived from them. The
/// bits never stand on a command line or in the environment; they travel once, by the bootstrap, so
/// they are as private as MPI's own network.
class JobSecret {
 public:
  /// Draws the bits on the first process.
  /// Ranks:  collective over the job.
  /// Throws: TransportError if the system gives no random bits.
  [[nodiscard]] static JobSecret drawn(Bootstrap& bootstrap);
  explicit JobSecret(MacKey const& bits) : bits_(bits) {}

  /// The key of what process `from` sends to process `to`.
  [[nodiscard]] MacKey key(KeyPurpose purpose, ProcessId from, ProcessId to) const {
    return key(purpose, from.value(), to.value());
  }
  /// The key of what device `from` sends to device `to`.
  [[nodiscard]] MacKey key(KeyPurpose purpose, DeviceId from, DeviceId to) const {
    return key(purpose, from.value(), to.value());
  }

 private:
  [[nodiscard]] MacKey key(KeyPurpose purpose, std::int64_t from, std::int64_t to) const;

  MacKey bits_;
};

/// Random bits of the system. Throws: TransportError if it gives none.
[[nodiscard]] MacKey random_bits();

}  // namespace tessera
