#include "src/liveness/divergence_checker.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/hash.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

// The number of statements that are reported to a parent at once, unless it waits for them.
constexpr std::uint64_t told_at_once = 16;
// After this many statements a parent reports its progress to its children.
constexpr std::uint64_t tell_interval = Agreement::most_ahead / 4;

std::string words_of(control::Account const& account) {
  return account.is_end ? text("its end", account.what) : text(account.statement, account.what);
}

Mismatch difference(ProcessId a, control::Account const& of_a, ProcessId b,
                    control::Account const& of_b) {
  bool const looks_equal = of_a.is_end == of_b.is_end && of_a.what.view() == of_b.what.view();
  return different_programs(text(
      "process ", a, " is at ", words_of(of_a), ", but process ", b, " is at ", words_of(of_b),
      looks_equal ? "; the two differ in the expression, its slices or the layouts" : "", ':'));
}

}  // namespace

Agreement::Agreement(Postbox& postbox, Job const& job, Failure& failure)
    : postbox_(postbox), failure_(failure), self_(job.self()) {
  auto const self = self_.value();
  for (std::int64_t bit = 1; (self & bit) == 0 && self + bit < job.process_count(); bit *= 2)
    children_.push_back({.process = ProcessId(self + bit), .digests = {}});
  if (self != 0) parent_ = ProcessId(self & (self - 1));
}

std::vector<ProcessId> Agreement::neighbours() const {
  std::vector<ProcessId> result;
  if (parent_) result.push_back(*parent_);
  for (auto const& child : children_) result.push_back(child.process);
  return result;
}

std::optional<ProcessId> Agreement::behind(std::uint64_t most) const {
  if (parent_ && said_ - compared_by_parent_ > most) return parent_;
  for (auto const& child : children_)
    if (said_ - child.compared > most) return child.process;
  return std::nullopt;
}

void Agreement::say(StatementTag const& tag, std::function<std::string()> what) {
  keep({mix(tag.number, tag.hash), tag, std::move(what), false});
}

void Agreement::say_end(StatementTag const& tag, std::function<std::string()> what) {
  keep({mix(tag.number, tag.hash), tag, std::move(what), true});
  tell();
}

void Agreement::keep(Said said) {
  ++said_;
  history_.push_back(std::move(said));
  if (said_ - told_ >= told_at_once) tell();
  for (auto& child : children_) compare(child);
}

void Agreement::tell() {
  if (!parent_) return;
  while (told_ < said_) {
    control::Digests message;
    while (told_ < said_ && message.count < message.list.size())
      message.list[message.count++] = own(++told_).digest;
    message.has_ended = told_ == said_ && history_.back().is_end;
    postbox_.send(*parent_, message);
  }
}

Agreement::Child& Agreement::child(ProcessId process) {
  auto const found = std::find_if(children_.begin(), children_.end(),
                                  [&](auto const& other) { return other.process == process; });
  TESSERA_ASSERT(found != children_.end(), process);
  return *found;
}

void Agreement::on_digests(ProcessId from, control::Digests const& digests) {
  auto& sender = child(from);
  sender.digests.insert(sender.digests.end(), digests.list.begin(),
                        digests.list.begin() + static_cast<std::ptrdiff_t>(digests.count));
  sender.has_ended = digests.has_ended;
  compare(sender);
}

void Agreement::compare(Child& child) {
  while (!child.digests.empty() && child.compared < said_ && !child.is_asked) {
    if (child.digests.front() == own(child.compared + 1).digest) {
      child.digests.pop_front();
      ++child.compared;
    } else {
      child.is_asked = true;
      postbox_.send(child.process, control::Ask{.number = child.compared + 1});
    }
  }
  bool const is_last = child.has_ended && child.digests.empty();
  if (child.compared >= child.known_compared + (is_last ? 1 : tell_interval)) {
    child.known_compared = child.compared;
    postbox_.send(child.process, control::Compared{.statements = child.compared});
  }
  forget();
}

void Agreement::on_compared(control::Compared const& compared) {
  compared_by_parent_ = compared.statements;
  forget();
}

void Agreement::forget() {
  auto compared_by_all = parent_ ? compared_by_parent_ : said_;
  for (auto const& child : children_) compared_by_all = std::min(compared_by_all, child.compared);
  while (history_.size() > said_ - compared_by_all) history_.pop_front();
}

void Agreement::on_ask(control::Ask const& ask) {
  postbox_.send(*parent_, account(ask.number));
}

void Agreement::on_account(ProcessId from, control::Account const& account_of_child) {
  auto const own_account = account(child(from).compared + 1);
  failure_.set(std::make_exception_ptr(difference(self_, own_account, from, account_of_child)));
}

control::Account Agreement::account(std::uint64_t number) const {
  auto const& said = own(number);
  control::Account account;
  account.is_end = said.is_end;
  account.statement = control::Statement(said.tag);
  account.what = decltype(account.what)(said.what());
  return account;
}

Agreement::Said const& Agreement::own(std::uint64_t number) const {
  TESSERA_ASSERT(number <= said_ && said_ - number < history_.size(), number, " of ", said_);
  return history_[history_.size() - 1 - (said_ - number)];
}

}  // namespace tessera
