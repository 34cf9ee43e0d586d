#pragma once
/// @file
/// The existing budgets, and whether they allow a statement.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/runtime/budget.hpp"

#include "src/execution/compiled_operation.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera::detail {

struct BudgetEntry {
  CommunicationLimits limits;
  SourceLocation location;
  CommunicationUse used;
  std::vector<CommunicationUse> by_device;  ///< of this process; without gathers
};

/// What a statement or an operation that is about to run costs, as budgets count it.
struct Expense {
  /// Of this process, without gathers; empty if none of its devices takes part.
  std::vector<CommunicationUse> by_device;
  bool is_announced = false;  ///< the program asks for what is sent
  /// The number of operands that any device of the job gathers; null if it does not matter.
  std::int64_t* gathers = nullptr;
  /// While that number is negative: 1 or 0 for each operand that may be gathered, as far as this
  /// process knows. Every process has the same count of them.
  std::vector<std::int64_t> gathers_here;
  std::function<Explanation()> explain;
};
[[nodiscard]] Expense expense_of(Statement const& statement, CompiledStatement& plan);
[[nodiscard]] Expense expense_of(Operation const& operation, CompiledOperation const& plan);

/// Why a statement must not run: the same words on every process.
struct Refusal {
  std::string reason;
};

/// Outermost first. Judging a statement takes two steps, between which the numbers of all processes
/// are reduced to their maxima.
///
/// Threads: the caller's.
class BudgetStack {
 public:
  /// `is_strict`: refuses a gather unless a budget of the scope limits gathers.
  BudgetStack(bool is_strict, std::int64_t local_devices)
      : is_strict_(is_strict), local_devices_(static_cast<std::size_t>(local_devices)) {}

  /// A budget begins inside all that are open; `close` ends it.
  void open(BudgetEntry& entry);
  void close(BudgetEntry const& entry);

  /// True if a statement may be refused.
  [[nodiscard]] bool watches() const { return is_strict_ || !entries_.empty(); }
  /// Returns the reason why a statement may be refused, for people; empty if there is none.
  [[nodiscard]] std::string_view refuser() const;
  /// Equal on processes with the same budgets.
  [[nodiscard]] std::uint64_t fingerprint() const;

  /// The numbers that the other processes need from this one: for each budget, the most messages
  /// and bytes that any device would have sent; and for a plan that was not checked before, 1
  /// or 0 for each operand that may be gathered. Every process has the same count of numbers, and
  /// none for a known plan without a budget.
  [[nodiscard]] std::vector<std::int64_t> numbers_for(Expense const& expense) const;
  /// Charges the statement, or returns the reason for refusing it. `maxima` are the maxima of the
  /// numbers above over all processes.
  [[nodiscard]] std::optional<Refusal> charge(Expense const& expense,
                                              std::vector<std::int64_t> const& maxima);

 private:
  [[nodiscard]] bool announces_gathers() const;
  void add(std::vector<CommunicationUse> const& uses, Expense const& expense);

  std::vector<BudgetEntry*> entries_;
  bool is_strict_;
  std::size_t local_devices_;
};

}  // namespace tessera::detail
