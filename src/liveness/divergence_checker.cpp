#include "src/liveness/divergence_checker.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

// The number of statements that are reported to a parent at once, unless it waits for them.
constexpr std::uint64_t told_at_once = 16;
// After this many statements a parent reports its progress to its children.
constexpr std::uint64_t tell_interval = DivergenceChecker::most_ahead / 4;

std::string words_of(control::StatementDescription const& description) {
  return description.is_end ? text("its end", description.what)
                            : text(description.statement, description.what);
}

Mismatch difference(ProcessId a, control::StatementDescription const& of_a, ProcessId b,
                    control::StatementDescription const& of_b) {
  bool const looks_equal = of_a.is_end == of_b.is_end && of_a.what.view() == of_b.what.view();
  return different_programs(text(
      "process ", a, " is at ", words_of(of_a), ", but process ", b, " is at ", words_of(of_b),
      looks_equal ? "; the two differ in the expression, its slices, its numbers or the layouts"
                  : "",
      ':'));
}

}  // namespace

DivergenceChecker::DivergenceChecker(ControlChannel& control_channel, Job const& job,
                                     Failure& failure)
    : control_channel_(control_channel), failure_(failure), self_(job.self()) {
  auto const self = self_.value();
  for (std::int64_t bit = 1; (self & bit) == 0 && self + bit < job.process_count(); bit *= 2)
    children_.push_back({.process = ProcessId(self + bit), .digests = {}});
  if (self != 0) parent_ = ProcessId(self & (self - 1));
}

std::vector<ProcessId> DivergenceChecker::neighbours() const {
  std::vector<ProcessId> result;
  if (parent_) result.push_back(*parent_);
  for (auto const& child : children_) result.push_back(child.process);
  return result;
}

std::optional<ProcessId> DivergenceChecker::behind(std::uint64_t most) const {
  if (parent_ && own_statements_ - compared_by_parent_ > most) return parent_;
  for (auto const& child : children_)
    if (own_statements_ - child.compared > most) return child.process;
  return std::nullopt;
}

void DivergenceChecker::say(StatementTag const& tag, std::function<std::string()> what) {
  keep({mix(tag.number, tag.hash), tag, std::move(what), false});
}

void DivergenceChecker::say_end(StatementTag const& tag, std::function<std::string()> what) {
  keep({mix(tag.number, tag.hash), tag, std::move(what), true});
  tell();
}

void DivergenceChecker::keep(OwnStatement said) {
  ++own_statements_;
  history_.push_back(std::move(said));
  if (own_statements_ - told_ >= told_at_once) tell();
  for (auto& child : children_) compare(child);
}

void DivergenceChecker::tell() {
  if (!parent_) return;
  while (told_ < own_statements_) {
    control::Digests message;
    while (told_ < own_statements_ && message.count < message.list.size())
      message.list[message.count++] = own(++told_).digest;
    message.has_ended = told_ == own_statements_ && history_.back().is_end;
    control_channel_.send(*parent_, message);
  }
}

void DivergenceChecker::tell_and_wait() {
  tell();
  if (parent_) control_channel_.send(*parent_, control::Digests{.waits = true});
}

DivergenceChecker::Child& DivergenceChecker::child(ProcessId process) {
  auto const found = std::find_if(children_.begin(), children_.end(),
                                  [&](auto const& other) { return other.process == process; });
  if (found == children_.end())
    throw control::BadMessage("statements to compare, which are not for this process");
  return *found;
}

void DivergenceChecker::check_parent(ProcessId from) const {
  if (parent_ != from)
    throw control::BadMessage("a result of comparing statements, which are not for it");
}

void DivergenceChecker::on_digests(ProcessId from, control::Digests const& digests) {
  auto& sender = child(from);
  sender.digests.insert(sender.digests.end(), digests.list.begin(),
                        digests.list.begin() + static_cast<std::ptrdiff_t>(digests.count));
  sender.has_ended = digests.has_ended;
  sender.waits = sender.waits || digests.waits;
  compare(sender);
}

void DivergenceChecker::compare(Child& child) {
  while (!child.digests.empty() && child.compared < own_statements_ && !child.is_asked) {
    if (child.digests.front() == own(child.compared + 1).digest) {
      child.digests.pop_front();
      ++child.compared;
    } else {
      child.is_asked = true;
      control_channel_.send(child.process, control::Ask{.number = child.compared + 1});
    }
  }
  bool const is_awaited = (child.has_ended || child.waits) && child.digests.empty();
  if (is_awaited) child.waits = false;
  if (child.compared >= child.known_compared + (is_awaited ? 1 : tell_interval)) {
    child.known_compared = child.compared;
    control_channel_.send(child.process, control::Compared{.statements = child.compared});
  }
  forget();
}

void DivergenceChecker::on_compared(ProcessId from, control::Compared const& compared) {
  check_parent(from);
  if (compared.statements < compared_by_parent_ || compared.statements > told_)
    throw control::BadMessage(
        text("a result of comparing ", compared.statements, " statements of ", told_));
  compared_by_parent_ = compared.statements;
  forget();
}

void DivergenceChecker::forget() {
  auto compared_by_all = parent_ ? compared_by_parent_ : own_statements_;
  for (auto const& child : children_) compared_by_all = std::min(compared_by_all, child.compared);
  while (history_.size() > own_statements_ - compared_by_all) history_.pop_front();
}

void DivergenceChecker::on_ask(ProcessId from, control::Ask const& ask) {
  check_parent(from);
  if (ask.number <= compared_by_parent_ || ask.number > told_)
    throw control::BadMessage(text("a question about statement ", ask.number, " of ", told_));
  control_channel_.send(*parent_, description(ask.number));
}

void DivergenceChecker::on_description(ProcessId from,
                                       control::StatementDescription const& description_of_child) {
  auto const& sender = child(from);
  if (!sender.is_asked) throw control::BadMessage("the description of a statement, unasked");
  auto const own_description = description(sender.compared + 1);
  failure_.set(
      std::make_exception_ptr(difference(self_, own_description, from, description_of_child)));
}

control::StatementDescription DivergenceChecker::description(std::uint64_t number) const {
  auto const& said = own(number);
  control::StatementDescription description;
  description.is_end = said.is_end;
  description.statement = control::Statement(said.tag);
  description.what = decltype(description.what)(said.what());
  return description;
}

DivergenceChecker::OwnStatement const& DivergenceChecker::own(std::uint64_t number) const {
  TESSERA_ASSERT(number <= own_statements_ && own_statements_ - number < history_.size(), number,
                 " of ", own_statements_);
  return history_[history_.size() - 1 - (own_statements_ - number)];
}

}  // namespace tessera
