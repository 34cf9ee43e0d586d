#pragma once
/// @file
/// The seam between a program and whoever takes down what it does.

#include <memory>

#include "tessera/exchange/array_state.hpp"

namespace tessera {

struct Statement;

/// Is told what the program does while it is set, as when a loop's body is recorded.
class Watcher {
 public:
  virtual ~Watcher() = default;
  Watcher(Watcher const&) = delete;
  Watcher& operator=(Watcher const&) = delete;

  /// A statement is about to run. It is gone when this returns.
  virtual void note(Statement const& statement) = 0;
  /// An array has been moved from one handle to another.
  virtual void note_move(std::shared_ptr<ArrayState> const& array) noexcept = 0;
  /// The program is about to wait for its devices, to read or to write cells on the host. What this
  /// throws, the caller of whatever waits gets.
  virtual void note_host_access() = 0;

 protected:
  Watcher() = default;
};

namespace detail {

/// Who is told of moves; null for nobody.
extern Watcher* watcher_of_moves;
/// Says that an array was moved from one handle to another.
inline void note_move(std::shared_ptr<ArrayState> const& array) noexcept {
  if (watcher_of_moves != nullptr) watcher_of_moves->note_move(array);
}
}  // namespace detail
}  // namespace tessera
