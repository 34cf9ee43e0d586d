#pragma once
/// @file
/// The seam between a program and a recorder of what it does.

#include <memory>

#include "src/execution/storage/array_state.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/statement/operations/operation.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Hears what the program does while it is set as the listener, as when a loop's body is recorded.
class StatementListener {
 public:
  virtual ~StatementListener() = default;
  StatementListener(StatementListener const&) = delete;
  StatementListener& operator=(StatementListener const&) = delete;

  /// A statement is about to run. The reference is valid only during the call.
  virtual void note(Statement const& statement) = 0;
  /// The same of an operation. Its statements are not noted one by one.
  virtual void note(Operation const& operation) = 0;
  /// An array has been moved from one handle to another.
  virtual void note_move(std::shared_ptr<ArrayModel> const& array) noexcept = 0;
  /// The program is about to wait for its devices, to read or to write cells on the host.
  /// Exceptions propagate to the caller of the waiting function.
  virtual void note_host_access() = 0;

 protected:
  StatementListener() = default;
};

}  // namespace tessera
