#pragma once
/// @file
/// The seam between a program and those who follow what it does, such as the recorder of a loop.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tessera/base/source.hpp"

#include "src/execution/storage/array_state.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/statement/loop/recorded_statement.hpp"
#include "src/statement/operations/operation.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Steps of a recorded loop that run without its body.
struct ReplayedSteps {
  SourceLocation location;
  std::vector<RecordedStatement> const& statements;  ///< of the recorded step
  ArrayBindings const& bindings;
  std::int64_t first = 0;  ///< the number of the first of these steps
  std::int64_t count = 0;
  /// Steps from the recorded one to the first of these; determines the roles of `bindings.arrays`.
  std::int64_t later = 0;
};

/// The value of a partial array, which is computed when it is first read and kept from then on.
struct KeptValue {
  ArrayState& partial;
  std::shared_ptr<ArrayModel> const& value;  ///< its cells are not set yet
};

class HeardAsOne;

/// Is told what the program does while it lives, beside other listeners.
///
/// Each function but `note_move` is called before the thing happens. References are valid during
/// the call. An exception reaches the program; older listeners are then not told.
///
/// Threads: the one that made the Runtime.
class Listener {
 public:
  Listener();
  virtual ~Listener();
  Listener(Listener const&) = delete;
  Listener& operator=(Listener const&) = delete;

  /// A statement that is no part of an operation.
  virtual void note(Statement const& statement) = 0;
  /// An operation. Its statements are not noted one by one.
  virtual void note(Operation const& operation) = 0;
  /// Steps of a loop. Their statements are not noted. Steps that run the body, such as the first
  /// two, are noted by their statements instead.
  virtual void note(ReplayedSteps const& steps) = 0;
  /// The value of a partial array. Returns true to hear the statements that compute it as well.
  [[nodiscard]] virtual bool note(KeptValue const& kept) = 0;
  /// An array has been moved from one handle to another.
  virtual void note_move(std::shared_ptr<ArrayModel> const& array) noexcept = 0;
  /// The program waits for its devices, or reads or writes cells on the host.
  virtual void note_host_access() = 0;
  /// For people: why every statement of a loop must be noted, so that its body runs in all steps;
  /// empty if it need not.
  /// Ranks: empty on all processes or on none.
  [[nodiscard]] virtual std::string_view reason_to_run_bodies() const = 0;

 private:
  friend class HeardAsOne;
  template <class F>
  friend void tell_listeners(F const& f);

  Listener* older_;
  HeardAsOne const* whole_ = nullptr;  ///< runs now and was noted as one; null if parts are heard
};

/// Calls `f(listener)` for each listener, the youngest first, except those that were told of the
/// running whole.
template <class F>
void tell_listeners(F const& f) {
  for (auto* one = detail::current_runtime.youngest_listener; one != nullptr; one = one->older_)
    if (one->whole_ == nullptr) f(*one);
}

/// Tells the listeners of something as a whole. During its lifetime they hear nothing of its parts.
class HeardAsOne {
 public:
  explicit HeardAsOne(ReplayedSteps const& steps);
  explicit HeardAsOne(KeptValue const& kept);
  ~HeardAsOne();
  HeardAsOne(HeardAsOne const&) = delete;
  HeardAsOne& operator=(HeardAsOne const&) = delete;

 private:
  HeardAsOne() = default;  // so that the destructor runs if a listener throws
};

/// Tells the listeners that the program waits for its devices.
void note_host_access();
/// That of some listener, as Listener::reason_to_run_bodies; empty if none has one.
/// Throws: UsageError as `engine()`.
[[nodiscard]] std::string_view reason_to_run_bodies();

}  // namespace tessera
