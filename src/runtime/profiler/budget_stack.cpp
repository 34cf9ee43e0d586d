#include "src/runtime/profiler/budget_stack.hpp"

#include <algorithm>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/statement/lowering/explain.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

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

void add_sends(CommunicationUse& use, DevicePlan const& plan) {
  for (auto const* exchange : plan.exchanges()) {
    use.messages += std::ssize(exchange->sends);
    for (auto const& message : exchange->sends) use.bytes += message.bytes;
  }
}

// The explanation without the messages of this process's devices, so that it is the same on every
// process.
std::string decisions_of(Explanation const& explanation) {
  auto said = text(explanation.location, ": ", explanation.kind);
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

detail::Refusal refusal_of(detail::BudgetEntry const& entry, CommunicationUse const& use,
                           detail::Expense const& expense) {
  return {text("the communication budget of ", entry.location,
               " is exceeded; with this statement a device would have sent ",
               compared(use, entry.limits), ". Nothing of it was sent.\n",
               decisions_of(expense.explain()),
               "Raise the budget, or choose layouts that move less: equal shardings, "
               "reads close to the cells that are written")};
}

detail::Refusal refusal_of_strictness(std::int64_t gathers, detail::Expense const& expense) {
  return {text("TESSERA_STRICT: ", counted(gathers, "gather"),
               " without an announcement. Nothing of the statement was sent.\n",
               decisions_of(expense.explain()),
               "Give the arrays equal shardings, move them by reshard(u, sharding), or put a "
               "CommunicationBudget with .gathers = ",
               gathers, " around the statement")};
}

}  // namespace

namespace detail {

Expense expense_of(Statement const& statement, CompiledStatement& plan) {
  Expense expense{.by_device = std::vector<CommunicationUse>(plan.devices.size()),
                  .is_announced = statement.purpose == Purpose::transfer,
                  .gathers = &plan.gathers,
                  .gathers_here = {},
                  .explain = [&] { return explanation_of(plan, statement); }};
  for (std::size_t i = 0; i < plan.devices.size(); ++i)
    add_sends(expense.by_device[i], plan.devices[i]);
  if (plan.gathers >= 0) return expense;
  for (std::size_t l = 0; l < plan.explanation.reads.size(); ++l)
    if (auto const& read = plan.explanation.reads[l]; is_gather(read))
      expense.gathers_here.push_back(plan.gathered.contains(l) || read.bytes > 0 ? 1 : 0);
  return expense;
}

Expense expense_of(Operation const& operation, CompiledOperation const& plan) {
  Expense expense{.by_device = {},  // of a process without steps: nothing
                  .is_announced = true,
                  .gathers = nullptr,
                  .gathers_here = {},
                  .explain = [&] {
                    // Which arrays a process sends of depends on its steps.
                    auto explanation = explanation_of(plan, operation);
                    explanation.reads.clear();
                    return explanation;
                  }};
  for (auto const& step : plan.steps) {
    auto const& devices = step.plan->devices;
    expense.by_device.resize(devices.size());
    for (std::size_t i = 0; i < devices.size(); ++i) add_sends(expense.by_device[i], devices[i]);
  }
  return expense;
}

void BudgetStack::open(BudgetEntry& entry) {
  entry.by_device.resize(local_devices_);
  entries_.push_back(&entry);
}

void BudgetStack::close(BudgetEntry const& entry) {
  std::erase(entries_, &entry);
}

std::string_view BudgetStack::refuser() const {
  if (!entries_.empty()) return "a CommunicationBudget";
  return is_strict_ ? "TESSERA_STRICT" : "";
}

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

std::vector<std::int64_t> BudgetStack::numbers_for(Expense const& expense) const {
  std::vector<std::int64_t> numbers;
  for (auto const* entry : entries_) {
    CommunicationUse most;
    for (std::size_t i = 0; i < entry->by_device.size(); ++i) {
      auto const more = i < expense.by_device.size() ? expense.by_device[i] : CommunicationUse{};
      most.messages = std::max(most.messages, entry->by_device[i].messages + more.messages);
      most.bytes = std::max(most.bytes, entry->by_device[i].bytes + more.bytes);
    }
    numbers.push_back(most.messages);
    numbers.push_back(most.bytes);
  }
  numbers.insert(numbers.end(), expense.gathers_here.begin(), expense.gathers_here.end());
  return numbers;
}

std::optional<Refusal> BudgetStack::charge(Expense const& expense,
                                           std::vector<std::int64_t> const& maxima) {
  auto const gathers_at = static_cast<std::ptrdiff_t>(2 * entries_.size());
  if (expense.gathers != nullptr && *expense.gathers < 0)
    *expense.gathers = std::count_if(maxima.begin() + gathers_at, maxima.end(),
                                     [](std::int64_t is_gather) { return is_gather > 0; });
  auto const gathers = expense.is_announced ? 0 : *expense.gathers;

  std::vector<CommunicationUse> uses;
  for (std::size_t b = 0; b < entries_.size(); ++b) {
    uses.push_back({maxima[2 * b], maxima[2 * b + 1], entries_[b]->used.gathers + gathers});
    if (exceeds(uses[b], entries_[b]->limits)) return refusal_of(*entries_[b], uses[b], expense);
  }
  if (is_strict_ && gathers > 0 && !announces_gathers())
    return refusal_of_strictness(gathers, expense);
  add(uses, expense);
  return std::nullopt;
}

void BudgetStack::add(std::vector<CommunicationUse> const& uses, Expense const& expense) {
  for (std::size_t b = 0; b < entries_.size(); ++b) {
    entries_[b]->used = uses[b];
    for (std::size_t i = 0; i < expense.by_device.size(); ++i) {
      entries_[b]->by_device[i].messages += expense.by_device[i].messages;
      entries_[b]->by_device[i].bytes += expense.by_device[i].bytes;
    }
  }
}

bool BudgetStack::announces_gathers() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](BudgetEntry const* entry) { return entry->limits.gathers.has_value(); });
}

}  // namespace detail
}  // namespace tessera
