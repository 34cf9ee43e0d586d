#include "tessera/runtime/budget.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/runtime/profiler/budget_stack.hpp"
#include "src/runtime/statement_hooks.hpp"

namespace tessera {
namespace {

void check_limit(std::optional<std::int64_t> const& limit, char const* of) {
  if (limit && *limit < 0)
    throw UsageError(text("a communication budget of ", *limit, ' ', of,
                          "; a limit is 0 or more, and a limit that is left out does not apply"));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, CommunicationUse const& use) {
  return out << counted(use.messages, "message") << ", " << bytes_text(use.bytes) << ", "
             << counted(use.gathers, "gather");
}

CommunicationBudget::CommunicationBudget(CommunicationLimits const& limits, std::source_location at)
    : stack_(detail::budgets()), entry_(std::make_unique<detail::BudgetEntry>()) {
  check_limit(limits.messages, "messages");
  check_limit(limits.bytes, "bytes");
  check_limit(limits.gathers, "gathers");
  entry_->limits = limits;
  entry_->location = at;
  stack_->open(*entry_);
}

CommunicationBudget::~CommunicationBudget() {
  stack_->close(*entry_);
}

CommunicationUse CommunicationBudget::used() const {
  return entry_->used;
}

}  // namespace tessera
