#include "src/plan/schedules/sums.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

constexpr std::size_t own = 0;
constexpr std::size_t sums = 1;
constexpr std::size_t arrived = 2;

using WorkKind = ScheduledWork::Kind;

// Adds the values of all members for the cells `of`, which lie one member behind the other in
// `arrived`; those of `self`, if it is given, lie in its own buffer.
std::vector<ScheduledWork> add_in_order(std::int64_t members, CellRange const& of,
                                        std::optional<std::int64_t> self = {}) {
  std::vector<ScheduledWork> work;
  for (std::int64_t m = 0; m < members; ++m) {
    CellRange const theirs{arrived, m * of.size(), (m + 1) * of.size()};
    work.push_back({m == 0 ? WorkKind::copy : WorkKind::add,
                    m == self ? CellRange{own, of.begin, of.end} : theirs, of});
  }
  return work;
}

// A member of a relay. Its step j works on chunk j. Finished chunks reach it `back` steps after it
// worked on them: three for each member behind it. A long chunk leaves that member slot by slot, in
// turn with a chunk that this member sends two steps later; so two would make both wait.
class RelayMember {
 public:
  RelayMember(Relay const& relay, std::int64_t self)
      : relay_(relay),
        self_(self),
        last_(relay.members - 1),
        chunks_(std::min(relay.chunks, relay.cells)),
        back_(3 * (last_ - self)) {
    TESSERA_ASSERT(relay.chunks > 0, "a relay needs a chunk");
  }

  [[nodiscard]] Schedule forward() const {
    auto schedule = start();
    for (std::int64_t j = 0; j <= chunks_; ++j) schedule.append(forward_step(j));
    return schedule;
  }
  [[nodiscard]] Schedule there_and_back() const {
    auto schedule = start();
    // Between the last chunk forward and the first one back a member has nothing to do.
    for (std::int64_t j = 0; j <= std::min(chunks_, back_ - 1); ++j)
      schedule.append(forward_step(j));
    for (auto j = back_; j <= back_ + chunks_; ++j) {
      auto step = forward_step(j);
      add_way_back(step, j);
      schedule.append(std::move(step));
    }
    return schedule;
  }

 private:
  [[nodiscard]] Schedule start() const {
    Schedule schedule{{relay_.cells, relay_.cells}, {}};
    if (self_ > 0 && is_chunk(0)) schedule.append({{}, {}, {message(self_ - 1, 0)}});
    return schedule;
  }
  [[nodiscard]] ScheduleStep forward_step(std::int64_t j) const {
    ScheduleStep step;
    if (self_ < last_ && is_chunk(j - 1)) step.sends.push_back(message(self_ + 1, j - 1));
    if (is_chunk(j))
      step.work.push_back(
          {self_ == 0 ? WorkKind::copy : WorkKind::add, chunk(own, j), chunk(sums, j)});
    if (self_ > 0 && is_chunk(j + 1)) step.receives.push_back(message(self_ - 1, j + 1));
    return step;
  }
  void add_way_back(ScheduleStep& step, std::int64_t j) const {
    auto const c = j - back_;
    if (self_ > 0 && is_chunk(c - 1)) step.sends.push_back(message(self_ - 1, c - 1));
    if (self_ < last_ && is_chunk(c)) step.receives.push_back(message(self_ + 1, c));
  }

  [[nodiscard]] bool is_chunk(std::int64_t c) const { return 0 <= c && c < chunks_; }
  [[nodiscard]] CellRange chunk(std::size_t buffer, std::int64_t c) const {
    return {buffer, border(c), border(c + 1)};
  }
  // The first chunks have one cell more.
  [[nodiscard]] std::int64_t border(std::int64_t c) const {
    return c * (relay_.cells / chunks_) + std::min(c, relay_.cells % chunks_);
  }
  [[nodiscard]] ScheduledMessage message(std::int64_t member, std::int64_t c) const {
    return {member, {chunk(sums, c)}};
  }

  Relay const& relay_;
  std::int64_t self_;
  std::int64_t last_;
  std::int64_t chunks_;
  std::int64_t back_;
};

// The members below `self` in a tree, itself among them, are [self, self + below).
std::int64_t below(std::int64_t members, std::int64_t self) {
  auto const most = self == 0 ? members : self & -self;
  return std::min(most, members - self);
}

void append_way_up(Schedule& schedule, std::int64_t members, std::int64_t cells,
                   std::int64_t self) {
  auto const values = [&](std::int64_t first, std::int64_t last) {
    return CellRange{arrived, (first - self) * cells, (last - self) * cells};
  };
  ScheduleStep first;
  first.work.push_back({WorkKind::copy, {own, 0, cells}, values(self, self + 1)});
  schedule.append(std::move(first));
  auto const mine = below(members, self);
  for (std::int64_t child = 1; child < mine; child *= 2)
    schedule.append(
        {{}, {}, {{self + child, {values(self + child, self + std::min(2 * child, mine))}}}});
  if (self > 0) schedule.append({{{self & (self - 1), {values(self, self + mine)}}}, {}, {}});
  if (self == 0) schedule.append({{}, add_in_order(members, {sums, 0, cells}), {}});
}

void append_way_down(Schedule& schedule, std::int64_t members, std::int64_t cells,
                     std::int64_t self) {
  CellRange const all{sums, 0, cells};
  if (self > 0) schedule.append({{}, {}, {{self & (self - 1), {all}}}});
  auto const mine = below(members, self);
  if (mine == 1) return;
  // The children with the most members below them first; to all in one step.
  ScheduleStep step;
  for (auto child = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(mine - 1)));
       child > 0; child /= 2)
    step.sends.push_back({self + child, {all}});
  schedule.append(std::move(step));
}

}  // namespace

Schedule sum_directly(Pieces const& shares, std::int64_t self) {
  auto const n = shares.members;
  auto const cells = shares.cells();
  auto const mine = shares.range(sums, self);
  Schedule schedule{{cells, cells, n * mine.size()}, {}};
  ScheduleStep exchange;
  for (std::int64_t i = 1; i < n; ++i) {
    auto const to = (self + i) % n;
    auto const from = (self + n - i) % n;
    if (shares.range(own, to).size() > 0) exchange.sends.push_back({to, {shares.range(own, to)}});
    if (mine.size() > 0)
      exchange.receives.push_back(
          {from, {{arrived, from * mine.size(), (from + 1) * mine.size()}}});
  }
  schedule.append(std::move(exchange));
  if (mine.size() > 0) schedule.append({{}, add_in_order(n, mine, self), {}});
  return schedule;
}

Schedule sum_by_relay(Relay const& relay, std::int64_t self) {
  return RelayMember(relay, self).forward();
}

Schedule sum_by_relay_to_all(Relay const& relay, std::int64_t self) {
  return RelayMember(relay, self).there_and_back();
}

Schedule sum_by_tree(std::int64_t members, std::int64_t cells, std::int64_t self) {
  Schedule schedule{{cells, cells, below(members, self) * cells}, {}};
  if (cells > 0) append_way_up(schedule, members, cells, self);
  return schedule;
}

Schedule sum_by_tree_to_all(std::int64_t members, std::int64_t cells, std::int64_t self) {
  auto schedule = sum_by_tree(members, cells, self);
  if (cells > 0) append_way_down(schedule, members, cells, self);
  return schedule;
}

}  // namespace tessera
