#pragma once
/// @file
/// The budgets that live, and whether they let a statement pass.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/exchange/budget.hpp"
#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/exchange/statement.hpp"

namespace tessera::detail {

struct BudgetEntry {
  CommunicationLimits limits;
  Place place;
  CommunicationUse used;
  std::vector<CommunicationUse> by_device;  ///< of this process; without gathers
};

/// Outermost first. Judging a statement takes three steps, between which the engine lets the
/// numbers of all processes meet in their maxima.
class BudgetStack {
 public:
  /// `is_strict`: a gather that no budget of the scope speaks of is refused.
  explicit BudgetStack(bool is_strict) : is_strict_(is_strict) {}

  [[nodiscard]] std::vector<BudgetEntry*>& entries() { return entries_; }
  [[nodiscard]] bool watches() const { return is_strict_ || !entries_.empty(); }
  /// For people: what may refuse a statement; empty if nothing does.
  [[nodiscard]] std::string_view refuser() const {
    if (!entries_.empty()) return "a CommunicationBudget";
    return is_strict_ ? "TESSERA_STRICT" : "";
  }
  /// Equal on processes with the same budgets.
  [[nodiscard]] std::uint64_t fingerprint() const;

  /// What the other processes have to know of this one: per budget the most messages and bytes that
  /// a device would have sent; and of a plan that nobody asked about yet, the bytes of each gather.
  /// Equally many on every process, and none for a known plan without a budget.
  [[nodiscard]] std::vector<std::int64_t> numbers_for(CompiledStatement const& plan) const;
  /// Charges the statement, or says why not. `maxima` are the numbers above over all processes.
  [[nodiscard]] std::string charge(Statement const& statement, CompiledStatement& plan,
                                   std::vector<std::int64_t> const& maxima);

 private:
  [[nodiscard]] bool announces_gathers() const;
  /// Why the budget numbered `b` refuses; empty if it does not.
  [[nodiscard]] std::string refusal_of(std::size_t b, CommunicationUse const& use,
                                       Statement const& statement,
                                       CompiledStatement const& plan) const;
  [[nodiscard]] std::string refusal_of_strictness(std::int64_t gathers, Statement const& statement,
                                                  CompiledStatement const& plan) const;

  std::vector<BudgetEntry*> entries_;
  bool is_strict_;
};

}  // namespace tessera::detail
