#include "src/runtime/statement_hooks.hpp"

#include <utility>

#include "src/runtime/current_runtime.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/profiler/budget_stack.hpp"
#include "src/runtime/profiler/profiler.hpp"

namespace tessera::detail {

StatementListener* set_listener(StatementListener* listener) {
  (void)engine();
  return std::exchange(current_runtime.listener, listener);
}

bool has_listener() {
  (void)engine();
  return current_runtime.listener != nullptr;
}

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

}  // namespace tessera::detail
