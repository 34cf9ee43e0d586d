#include "src/plan/schedules/gathers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

void add_message(std::vector<ScheduledMessage>& messages, std::int64_t member,
                 std::vector<CellRange> const& ranges) {
  ScheduledMessage message{member};
  for (auto const& range : ranges)
    if (range.size() > 0) message.ranges.push_back(range);
  if (!message.ranges.empty()) messages.push_back(std::move(message));
}

// Pieces [first, first + count) modulo the number of members.
std::vector<CellRange> pieces_from(Pieces const& pieces, std::int64_t first, std::int64_t count) {
  auto const n = pieces.members;
  auto const start = first % n;
  auto const last = start + count;
  if (last <= n) return {pieces.range(0, start, last)};
  return {pieces.range(0, start, n), pieces.range(0, 0, last - n)};
}

// A member of a host, and the pieces that it is sent from other hosts to forward.
class Forwarder {
 public:
  Forwarder(Pieces const& pieces, MemberHosts const& hosts, std::int64_t host, std::int64_t place)
      : pieces_(pieces), hosts_(hosts), host_(host), place_(place) {}

  // The members of other hosts whose pieces it is sent: each host deals its members out over those
  // of this one.
  template <class Visit>
  void visit_senders(Visit const& visit) const {
    for (std::int64_t host = 0; host < hosts_.count(); ++host)
      for (auto i = place_; host != host_ && i < hosts_.size(host); i += hosts_.size(host_))
        visit(hosts_.first(host) + i);
  }
  [[nodiscard]] std::vector<CellRange> ranges() const {
    std::vector<CellRange> ranges;
    visit_senders([&](std::int64_t member) { ranges.push_back(pieces_.range(0, member)); });
    return ranges;
  }

 private:
  Pieces const& pieces_;
  MemberHosts const& hosts_;
  std::int64_t host_;
  std::int64_t place_;
};

}  // namespace

Schedule gather_directly(Pieces const& pieces, std::int64_t self) {
  Schedule schedule{{pieces.cells()}, {}};
  ScheduleStep step;
  // Each begins with the member behind it, so that no member is sent to by all at once.
  for (std::int64_t i = 1; i < pieces.members; ++i) {
    add_message(step.sends, (self + i) % pieces.members, {pieces.range(0, self)});
    auto const from = (self + pieces.members - i) % pieces.members;
    add_message(step.receives, from, {pieces.range(0, from)});
  }
  schedule.append(std::move(step));
  return schedule;
}

Schedule gather_by_ring(Pieces const& pieces, std::int64_t self) {
  Schedule schedule{{pieces.cells()}, {}};
  auto const n = pieces.members;
  for (std::int64_t s = 0; s + 1 < n; ++s) {
    ScheduleStep step;
    add_message(step.sends, (self + 1) % n, pieces_from(pieces, self + n - s, 1));
    add_message(step.receives, (self + n - 1) % n, pieces_from(pieces, self + n - s - 1, 1));
    schedule.append(std::move(step));
  }
  return schedule;
}

Schedule gather_by_doubling(Pieces const& pieces, std::int64_t self) {
  Schedule schedule{{pieces.cells()}, {}};
  auto const n = pieces.members;
  // A member has `have` pieces, its own and those behind it.
  for (std::int64_t have = 1; have < n; have *= 2) {
    auto const more = std::min(have, n - have);
    ScheduleStep step;
    add_message(step.sends, (self + n - have) % n, pieces_from(pieces, self, more));
    add_message(step.receives, (self + have) % n, pieces_from(pieces, self + have, more));
    schedule.append(std::move(step));
  }
  return schedule;
}

Schedule gather_by_hosts(Pieces const& pieces, MemberHosts const& hosts, std::int64_t self) {
  TESSERA_ASSERT(hosts.per_host > 0, "a host needs a member");
  Schedule schedule{{pieces.cells()}, {}};
  auto const host = hosts.host_of(self);
  auto const first = hosts.first(host);
  auto const here = hosts.size(host);
  auto const place = self - first;
  Forwarder const own(pieces, hosts, host, place);
  ScheduleStep outside;
  ScheduleStep inside;
  for (std::int64_t other = 0; other < hosts.count(); ++other)
    if (other != host)
      add_message(outside.sends, hosts.first(other) + place % hosts.size(other),
                  {pieces.range(0, self)});
  auto const forwarded = own.ranges();
  own.visit_senders([&](std::int64_t member) {
    add_message(outside.receives, member, {pieces.range(0, member)});
  });
  for (std::int64_t i = 1; i < here; ++i) {
    auto const to = first + (place + i) % here;
    auto const from = first + (place + here - i) % here;
    add_message(outside.sends, to, {pieces.range(0, self)});
    add_message(outside.receives, from, {pieces.range(0, from)});
    add_message(inside.sends, to, forwarded);
    add_message(inside.receives, from, Forwarder(pieces, hosts, host, from - first).ranges());
  }
  schedule.append(std::move(outside));
  schedule.append(std::move(inside));
  return schedule;
}

}  // namespace tessera
