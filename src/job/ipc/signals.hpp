#pragma once
/// @file
/// Signals are for the program's own threads.

#include <csignal>

#include <pthread.h>

namespace tessera {

/// Blocks signals on this thread during its lifetime; threads started meanwhile never receive
/// signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(SignalsBlocked const&) = delete;
  SignalsBlocked& operator=(SignalsBlocked const&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace tessera
