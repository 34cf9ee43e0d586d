#pragma once
/// @file
/// How a thread waits. No wait is endless: it ends with what was waited for, or with an error that
/// says what that was.

#include <cstdint>
#include <ostream>

#include "tessera/base/ids.hpp"
#include "tessera/transport/message.hpp"

namespace tessera {

/// What a device waits for, as others are told: the edge of the graph in which a cycle means that
/// the processes run different programs.
struct Awaited {
  enum class Kind : std::uint8_t {
    message,     ///< `self` waits until `peer` has put its message number `count`
    free_slot,   ///< `self` waits until `peer` has drained `count` of its messages
    invitation,  ///< the caller's thread waits until `peer` opens its end of `self` -> `peer`
    worker,      ///< the caller's thread waits until local device `peer` has done some of its work
    agreement,   ///< the caller's thread waits until the process of `peer` is at a statement
    answer,      ///< the caller's thread waits until the process of `peer` answers it
    finish,      ///< the caller's thread waits until all processes have arrived
    note,        ///< the caller's thread waits until `peer` has told `self` its note number `count`
    gpu,         ///< `self` waits for its GPU, and that perhaps for those of other processes
    other,       ///< anything else; never taken for a part of a cycle
  };
  Kind kind = Kind::message;
  DeviceId self{};          ///< the device that waits
  DeviceId peer{};          ///< the device that has to act
  std::uint64_t count = 0;  ///< messages the peer must have put (message) or drained (free_slot)
  StatementTag statement{};

  /// True if `peer` may be a device of another process, and is what the wait depends on.
  [[nodiscard]] bool has_peer() const {
    return kind == Kind::message || kind == Kind::free_slot || kind == Kind::invitation ||
           kind == Kind::agreement || kind == Kind::answer || kind == Kind::note;
  }
  /// "device 0 waits for message 5 of device 1 for statement 7 (heat_1d.cpp:41)"
  friend std::ostream& operator<<(std::ostream& out, Awaited const& what);
};

/// The waits of one thread.
///
/// A wait spins a little, then yields after each empty look. What else happens meanwhile (driving
/// the transports, looking at a peer's beat, serving the questions of other processes) is `idle`,
/// which the owner of the thread provides.
class Waiter {
 public:
  virtual ~Waiter() = default;

  /// Returns once `ready()` is true.
  /// Throws: PeerFailed, Mismatch, or the first failure of any thread of this process.
  template <class Ready>
  void until(Ready const& ready, Awaited const& what) {
    for (int look = 0; look < spins_; ++look) {
      if (ready()) return;
      spin();
    }
    begin(what);
    try {
      while (!ready()) idle();
    } catch (...) {
      end();
      throw;
    }
    end();
  }

  /// Looks before the first yield: many where each waiting thread of the host has a core of its
  /// own.
  void set_spins(int spins) { spins_ = spins; }

  /// Something has gone wrong that another process may know more about: waits a little for that
  /// where the processes compare their statements. Throws what they say.
  virtual void listen(Awaited const& /*what*/) {}

 protected:
  /// A long wait begins, or has ended: what is awaited becomes visible to the watch.
  virtual void begin(Awaited const& what) = 0;
  virtual void end() = 0;
  /// One empty look: yields, and does what this thread owes others.
  virtual void idle() = 0;
  /// What happens between two looks before the first yield.
  virtual void spin() { relax(); }

  static void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

 private:
  int spins_ = 100;
};

}  // namespace tessera
