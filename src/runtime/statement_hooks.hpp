#pragma once
/// @file
/// Who explains the statements of the Runtime that lives, or may refuse them.

#include <memory>
#include <string_view>

namespace tessera {

struct Explanations;

namespace detail {

class BudgetStack;

// All are local, and throw UsageError as `engine()` does.

/// Appends an explanation of each following statement to `sink`; null switches this off. Returns
/// the previous sink.
Explanations* explain_into(Explanations* sink);

/// Returns the CommunicationBudgets that live.
[[nodiscard]] std::shared_ptr<BudgetStack> const& budgets();
/// The reason why a statement may be refused, for people: "a CommunicationBudget",
/// "TESSERA_STRICT"; empty if there is none.
[[nodiscard]] std::string_view refuser();
/// As Engine::catch_up_on_numbers.
void catch_up_on_numbers();
/// True if some process is told TESSERA_CHECK=recording.
[[nodiscard]] bool checks_recordings();
/// True if some process is told TESSERA_CHECK=communication or numbers.
[[nodiscard]] bool checks_communication();

}  // namespace detail
}  // namespace tessera
