#include "src/runtime/statement_hooks.hpp"

#include "src/runtime/engine.hpp"
#include "src/runtime/profiler/budget_stack.hpp"
#include "src/runtime/profiler/profiler.hpp"

namespace tessera::detail {

Explanations* explain_into(Explanations* sink) {
  return engine().profiler().explain_into(sink);
}

std::shared_ptr<BudgetStack> const& budgets() {
  return engine().budgets();
}

std::string_view refuser() {
  return engine().budgets()->refuser();
}

void catch_up_on_numbers() {
  engine().catch_up_on_numbers();
}

bool checks_recordings() {
  return engine().checks_recordings();
}

bool checks_communication() {
  return engine().checks_communication();
}

}  // namespace tessera::detail
