#pragma once
/// @file
/// How a thread waits. No wait is endless: it ends with the awaited event, or with an error that
/// names it.

#include "src/transport/protocol/awaited.hpp"

namespace tessera {

/// The waits of one thread.
///
/// A wait spins a little, then yields after each unsuccessful poll. The owner of the thread
/// provides `idle` for other work during the wait: driving the transports, checking a peer's
/// heartbeat, and answering the queries of other processes.
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

  /// Sets the number of polls before the first yield: many if each waiting thread of the host has a
  /// core of its own.
  void set_spins(int spins) { spins_ = spins; }

  /// Called now and then by a long computation: drives the transports, so that messages travel
  /// meanwhile, where that is this thread's duty. Throws: nothing; the next wait throws.
  virtual void drive() {}

  /// Called after an error about which another process may know more: waits briefly for its report
  /// if the processes compare their statements. Throws the reported failure.
  virtual void listen(Awaited const& /*what*/) {}

 protected:
  /// A long wait begins, or has ended: publishes the awaited event for the liveness checks.
  virtual void begin(Awaited const& what) = 0;
  virtual void end() = 0;
  /// One unsuccessful poll: yields, and does this thread's background work.
  virtual void idle() = 0;
  /// Pauses between two polls before the first yield.
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
