#pragma once
/// @file
/// What a thread waits for, as a value that can be shown to people and to other processes.

#include <cstdint>
#include <ostream>

#include "tessera/base/ids.hpp"

#include "src/transport/protocol/message.hpp"

namespace tessera {

/// The event that a device waits for, as reported to other processes: an edge of the graph in which
/// a cycle means that the processes run different programs.
struct Awaited {
  enum class Kind : std::uint8_t {
    message,     ///< `self` waits until `peer` has put its message number `count`
    free_slot,   ///< `self` waits until `peer` has drained `count` of its messages
    invitation,  ///< the caller's thread waits until `peer` opens its end of `self` -> `peer`
    worker,      ///< the caller's thread waits until local device `peer` has made progress
    checker,     ///< the caller's thread waits until the process of `peer` is at a statement
    answer,      ///< the caller's thread waits until the process of `peer` answers it
    finish,      ///< the caller's thread waits until all processes have arrived
    note,        ///< the caller's thread waits until `peer` has sent `self` control message number
                 ///< `count`
    gpu,         ///< `self` waits for its GPU, which may wait for GPUs of other processes
    other,       ///< anything else; never part of a cycle
  };
  Kind kind = Kind::message;
  DeviceId self{};          ///< the device that waits
  DeviceId peer{};          ///< the device that has to act
  std::uint64_t count = 0;  ///< messages the peer must have put (message) or drained (free_slot)
  StatementTag statement{};

  /// True if `peer` may be a device of another process and the wait depends on it.
  [[nodiscard]] bool has_peer() const {
    return kind == Kind::message || kind == Kind::free_slot || kind == Kind::invitation ||
           kind == Kind::checker || kind == Kind::answer || kind == Kind::note;
  }
  /// "device 0 waits for message 5 of device 1 for statement 7 (heat_1d.cpp:41)"
  friend std::ostream& operator<<(std::ostream& out, Awaited const& what);
};

}  // namespace tessera
