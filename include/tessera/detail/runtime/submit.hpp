#pragma once
/// @file
/// All that templates ask of the engine.

#include <cstddef>
#include <span>

#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/plan/explanation.hpp"

namespace tessera::detail {

struct Statement;

/// Plans a statement if it is new, then runs it: before this returns with one local device, later
/// on the workers with several.
/// Ranks:  collective.
/// Throws: PeerFailed, Mismatch, and whatever failed before on this process; UsageError for an
///         array that may not be written or read now, and KernelNotBuilt; BudgetExceeded, alike on
///         every process and with nothing sent.
void submit(Statement const& statement);

/// The layout of one cell of which every device of the job has a copy. Ranks: local.
[[nodiscard]] std::shared_ptr<Layout const> const& layout_on_all();

/// Room for the value of a reduction. Ranks: collective.
[[nodiscard]] ScalarPtr new_scalar();

/// Waits for the value of a scalar and copies it. Ranks: local.
void read_scalar(ScalarPtr const& scalar, std::span<std::byte> into);

/// Tells the recorder of a loop, and other listeners, that an array was moved from one handle to
/// another. Ranks: local.
void note_move(StatePtr const& state) noexcept;

/// Collects the explanations of statements while it lives.
class ExplanationScope {
 public:
  ExplanationScope();
  ~ExplanationScope();
  ExplanationScope(ExplanationScope const&) = delete;
  ExplanationScope& operator=(ExplanationScope const&) = delete;
  [[nodiscard]] Explanations result() const;

 private:
  Explanations result_;
  Explanations* outer_;
};

}  // namespace tessera::detail
