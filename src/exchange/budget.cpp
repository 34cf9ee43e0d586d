#include "tessera/exchange/budget.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/text.hpp"
#include "tessera/exchange/engine.hpp"

#include "budget_stack.hpp"
#include "compile.hpp"

namespace tessera {
namespace {

void check_limit(std::optional<std::int64_t> const& limit, char const* of) {
  if (limit && *limit < 0)
    throw UsageError(text("a communication budget of ", *limit, ' ', of,
                          "; a limit is 0 or more, and one that is left out is none"));
}

bool exceeds(std::int64_t value, std::optional<std::int64_t> const& limit) {
  return limit && value > *limit;
}

bool exceeds(CommunicationUse const& use, CommunicationLimits const& limits) {
  return exceeds(use.messages, limits.messages) || exceeds(use.bytes, limits.bytes) ||
         exceeds(use.gathers, limits.gathers);
}

// "3 messages of 2 allowed, 48 B of 64 B, 0 gathers": only what is limited.
std::string compared(CommunicationUse const& use, CommunicationLimits const& limits) {
  std::vector<std::string> parts;
  if (limits.messages)
    parts.push_back(text(counted(use.messages, "message"), " where ", *limits.messages,
                         *limits.messages == 1 ? " is allowed" : " are allowed"));
  if (limits.bytes)
    parts.push_back(
        text(bytes_text(use.bytes), " where ", bytes_text(*limits.bytes), " are allowed"));
  if (limits.gathers)
    parts.push_back(text(counted(use.gathers, "gather"), " where ", *limits.gathers,
                         *limits.gathers == 1 ? " is allowed" : " are allowed"));
  return join(parts);
}

CommunicationUse sent_by(DevicePlan const& plan) {
  CommunicationUse use;
  use.messages = static_cast<std::int64_t>(plan.sends.size());
  for (auto const& message : plan.sends) use.bytes += message.bytes;
  return use;
}

// The explanation without what this process's devices send, so that every process says the same.
std::string decisions_of(CompiledStatement const& plan, Statement const& statement) {
  auto const explanation = explanation_of(plan, statement);
  auto said = text(explanation.place, ": ", explanation.kind);
  if (!explanation.writes.empty()) said += text(", written ", explanation.writes);
  said += '\n';
  for (auto const& read : explanation.reads)
    said += text("  ", read.array, ": ", to_string(read.cause), read.reason.empty() ? "" : "; ",
                 read.reason, '\n');
  return said;
}

bool is_gather(Communication const& read) {
  return read.cause == Communication::Cause::gather;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, CommunicationUse const& use) {
  return out << counted(use.messages, "message") << ", " << bytes_text(use.bytes) << ", "
             << counted(use.gathers, "gather");
}

CommunicationBudget::CommunicationBudget(CommunicationLimits const& limits, std::source_location at)
    : stack_(engine().budgets()), entry_(std::make_unique<detail::BudgetEntry>()) {
  check_limit(limits.messages, "messages");
  check_limit(limits.bytes, "bytes");
  check_limit(limits.gathers, "gathers");
  entry_->limits = limits;
  entry_->place = at;
  entry_->by_device.resize(static_cast<std::size_t>(engine().job().local_count()));
  stack_->entries().push_back(entry_.get());
}

CommunicationBudget::~CommunicationBudget() {
  std::erase(stack_->entries(), entry_.get());
}

CommunicationUse CommunicationBudget::used() const {
  return entry_->used;
}

namespace detail {

std::uint64_t BudgetStack::fingerprint() const {
  auto hash = hash_text("budgets");
  auto const add = [&](std::optional<std::int64_t> const& limit) {
    hash = mix(hash, limit ? static_cast<std::uint64_t>(*limit) + 1 : 0);
  };
  for (auto const* entry : entries_) {
    add(entry->limits.messages);
    add(entry->limits.bytes);
    add(entry->limits.gathers);
  }
  return hash;
}

std::vector<std::int64_t> BudgetStack::numbers_for(CompiledStatement const& plan) const {
  std::vector<std::int64_t> numbers;
  for (auto const* entry : entries_) {
    CommunicationUse most;
    for (std::size_t i = 0; i < plan.devices.size(); ++i) {
      auto const more = sent_by(plan.devices[i]);
      most.messages = std::max(most.messages, entry->by_device[i].messages + more.messages);
      most.bytes = std::max(most.bytes, entry->by_device[i].bytes + more.bytes);
    }
    numbers.push_back(most.messages);
    numbers.push_back(most.bytes);
  }
  if (plan.gathers >= 0) return numbers;
  for (auto const& read : plan.explanation.reads)
    if (is_gather(read)) numbers.push_back(read.bytes);
  return numbers;
}

std::string BudgetStack::charge(Statement const& statement, CompiledStatement& plan,
                                std::vector<std::int64_t> const& maxima) {
  auto const gathers_at = static_cast<std::ptrdiff_t>(2 * entries_.size());
  if (plan.gathers < 0)
    plan.gathers = std::count_if(maxima.begin() + gathers_at, maxima.end(),
                                 [](std::int64_t bytes) { return bytes > 0; });
  auto const gathers = statement.is_transfer ? 0 : plan.gathers;

  std::vector<CommunicationUse> uses;
  for (std::size_t b = 0; b < entries_.size(); ++b) {
    uses.push_back({maxima[2 * b], maxima[2 * b + 1], entries_[b]->used.gathers + gathers});
    auto why = refusal_of(b, uses[b], statement, plan);
    if (!why.empty()) return why;
  }
  auto why = refusal_of_strictness(gathers, statement, plan);
  if (!why.empty()) return why;

  for (std::size_t b = 0; b < entries_.size(); ++b) {
    entries_[b]->used = uses[b];
    for (std::size_t i = 0; i < plan.devices.size(); ++i) {
      auto const more = sent_by(plan.devices[i]);
      entries_[b]->by_device[i].messages += more.messages;
      entries_[b]->by_device[i].bytes += more.bytes;
    }
  }
  return {};
}

std::string BudgetStack::refusal_of(std::size_t b, CommunicationUse const& use,
                                    Statement const& statement,
                                    CompiledStatement const& plan) const {
  auto const& entry = *entries_[b];
  if (!exceeds(use, entry.limits)) return {};
  return text("the communication budget of ", entry.place,
              " is exceeded; with this statement a device would have sent ",
              compared(use, entry.limits), ". Nothing of it was sent.\n",
              decisions_of(plan, statement),
              "Raise the budget, or let the arrays lie so that less has to move: equal shardings, "
              "reads close to what is written");
}

std::string BudgetStack::refusal_of_strictness(std::int64_t gathers, Statement const& statement,
                                               CompiledStatement const& plan) const {
  if (!is_strict_ || gathers == 0 || announces_gathers()) return {};
  return text("TESSERA_STRICT: ", counted(gathers, "gather"),
              " that nobody announced. Nothing of the statement was sent.\n",
              decisions_of(plan, statement),
              "Give the arrays equal shardings, move them by reshard(u, sharding), or put a "
              "CommunicationBudget with .gathers = ",
              gathers, " around the statement");
}

bool BudgetStack::announces_gathers() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](BudgetEntry const* entry) { return entry->limits.gathers.has_value(); });
}

}  // namespace detail
}  // namespace tessera
