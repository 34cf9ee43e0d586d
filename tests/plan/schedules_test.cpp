#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/plan/schedules/counted.hpp"
#include "src/plan/schedules/gathers.hpp"
#include "src/plan/schedules/schedule.hpp"
#include "src/plan/schedules/sums.hpp"

#include "support/simulate.hpp"

using namespace tessera;
using test::simulate;
using test::SimulatedCell;
using test::SimulatedMember;
using test::SimulationResult;

/// Schedules of all members, simulated: cells, the order of sums, messages and waits.
TEST_SUITE_BEGIN("plan/schedules");

namespace {

using Cells = std::vector<std::int64_t>;

// Sizes of groups: all small ones, and those around powers of two and multiples of hosts.
constexpr std::int64_t sizes_of_groups[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                            12, 13, 15, 16, 17, 24, 31, 33, 47, 64};

Pieces pieces_of(Cells const& sizes) {
  Cells begins(sizes.size() + 1, 0);
  std::partial_sum(sizes.begin(), sizes.end(), begins.begin() + 1);
  return {static_cast<std::int64_t>(sizes.size()),
          [begins](std::int64_t m) { return begins[static_cast<std::size_t>(m)]; }};
}

Cells even(std::int64_t members) {
  return Cells(static_cast<std::size_t>(members), 2);
}
// 0 1 2 3 0 1 …
Cells uneven(std::int64_t members) {
  Cells sizes;
  for (std::int64_t m = 0; m < members; ++m) sizes.push_back(m % 4);
  return sizes;
}
// All cells at one member.
Cells lopsided(std::int64_t members) {
  Cells sizes(static_cast<std::size_t>(members), 0);
  sizes[static_cast<std::size_t>(members / 2)] = 3;
  return sizes;
}

std::int64_t ceil_log2(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
}

std::int64_t sum_of(Cells const& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

constexpr std::int64_t any_slot = std::numeric_limits<std::int64_t>::max();

// What is wrong with members that gathered; empty if nothing is.
std::string fault_of_gather(Cells const& sizes, SimulationResult const& result) {
  if (!result.fault.empty()) return result.fault;
  for (auto const& member : result.members)
    for (std::int64_t i = 0; i < sum_of(sizes); ++i)
      if (member.buffers[0][static_cast<std::size_t>(i)] != SimulatedCell{i})
        return "a cell is missing";
  return {};
}

using Builder = std::function<Schedule(Pieces const&, std::int64_t)>;

SimulationResult gather(Cells const& sizes, Builder const& builder, MemberHosts const& hosts,
                        std::int64_t slot_cells = any_slot) {
  auto const pieces = pieces_of(sizes);
  return simulate(
      {pieces.members, [&](std::int64_t member) { return builder(pieces, member); },
       [&](std::int64_t member, std::size_t, std::int64_t cell) {
         bool const is_own = pieces.begin(member) <= cell && cell < pieces.begin(member + 1);
         return is_own ? SimulatedCell{cell} : SimulatedCell{-1};
       },
       [&](std::int64_t from, std::int64_t to) { return hosts.host_of(from) != hosts.host_of(to); },
       slot_cells});
}

Builder by_hosts(MemberHosts const& hosts) {
  return [hosts](Pieces const& pieces, std::int64_t self) {
    return gather_by_hosts(pieces, hosts, self);
  };
}

// Members that add values: the addend of a member is its number.
SimulationResult add(std::int64_t members, std::function<Schedule(std::int64_t)> const& schedule,
                     std::int64_t slot_cells = any_slot) {
  return simulate({members,
                   schedule,
                   [](std::int64_t member, std::size_t buffer, std::int64_t) {
                     return buffer == 0 ? SimulatedCell{member} : SimulatedCell{-1};
                   },
                   {},
                   slot_cells});
}

bool has_sums(SimulatedMember const& member, std::int64_t members, std::int64_t begin,
              std::int64_t end) {
  SimulatedCell all(static_cast<std::size_t>(members));
  std::iota(all.begin(), all.end(), 0);
  auto const& sums = member.buffers[1];
  return std::all_of(sums.begin() + begin, sums.begin() + end,
                     [&](SimulatedCell const& cell) { return cell == all; });
}

std::int64_t steps_of(Schedule const& schedule) {
  return std::ssize(schedule.steps);
}

std::int64_t entries_of(Schedule const& schedule) {
  std::size_t entries = schedule.steps.size();
  for (auto const& step : schedule.steps)
    entries += step.sends.size() + step.work.size() + step.receives.size();
  return static_cast<std::int64_t>(entries);
}

}  // namespace

TEST_CASE("members gather the pieces of all, by every builder, in messages of any length") {
  for (std::int64_t const slot_cells : {std::int64_t{1}, any_slot})
    for (auto const n : sizes_of_groups)
      for (auto const& sizes : {even(n), uneven(n), lopsided(n)}) {
        CAPTURE(slot_cells);
        CAPTURE(n);
        auto const fault_of = [&](Builder const& builder, MemberHosts const& hosts) {
          return fault_of_gather(sizes, gather(sizes, builder, hosts, slot_cells));
        };
        CHECK(fault_of(gather_directly, {n, 1}) == "");
        CHECK(fault_of(gather_by_ring, {n, 1}) == "");
        CHECK(fault_of(gather_by_doubling, {n, 1}) == "");
        for (std::int64_t const per_host : {1, 3, 8})
          CHECK(fault_of(by_hosts({n, per_host}), {n, per_host}) == "");
      }
}

TEST_CASE("steps, messages and cells of a gather") {
  for (auto const n : sizes_of_groups) {
    CAPTURE(n);
    auto const pieces = pieces_of(even(n));
    struct Expected {
      Builder builder;
      std::int64_t steps;
      std::int64_t messages;
    };
    for (auto const& expected : {Expected{gather_directly, std::min<std::int64_t>(n - 1, 1), n - 1},
                                 Expected{gather_by_ring, n - 1, n - 1},
                                 Expected{gather_by_doubling, ceil_log2(n), ceil_log2(n)}}) {
      auto const result = gather(even(n), expected.builder, {n, 1});
      for (std::int64_t m = 0; m < n; ++m) {
        auto const& member = result.members[static_cast<std::size_t>(m)];
        CHECK(steps_of(expected.builder(pieces, m)) == expected.steps);
        CHECK(member.messages == expected.messages);
        CHECK(member.cells == 2 * (n - 1));
      }
    }
  }
}

TEST_CASE("a piece crosses the network once for each other host") {
  for (auto const n : sizes_of_groups)
    for (std::int64_t const per_host : {1, 3, 8}) {
      CAPTURE(n);
      CAPTURE(per_host);
      MemberHosts const hosts{n, per_host};
      auto const result = gather(even(n), by_hosts(hosts), hosts);
      auto const others = hosts.count() - 1;
      for (std::int64_t m = 0; m < n; ++m) {
        auto const& member = result.members[static_cast<std::size_t>(m)];
        CHECK(member.far_cells == 2 * others);
        auto const neighbours = hosts.size(hosts.host_of(m)) - 1;
        CHECK(member.messages <= 2 * neighbours + others);
        CHECK(steps_of(gather_by_hosts(pieces_of(even(n)), hosts, m)) <= 2);
        if (n % per_host == 0) {
          auto const forwarded = others;  // pieces, one from each other host
          CHECK(member.messages == (others > 0 ? 2 : 1) * neighbours + others);
          CHECK(member.cells == 2 * (others + neighbours + forwarded * neighbours));
        }
      }
    }
}

TEST_CASE("each member adds the values of its share in order") {
  for (auto const n : sizes_of_groups)
    for (auto const& sizes : {even(n), uneven(n), lopsided(n)}) {
      CAPTURE(n);
      auto const shares = pieces_of(sizes);

      auto const build = [&](std::int64_t m) { return sum_directly(shares, m); };
      auto const result = add(n, build);

      CHECK(result.fault == "");
      CHECK(add(n, build, 1).fault == "");
      for (std::int64_t m = 0; m < n; ++m) {
        auto const& member = result.members[static_cast<std::size_t>(m)];
        CHECK(steps_of(build(m)) <= 2);
        CHECK(member.messages <= n - 1);
        CHECK(has_sums(member, n, shares.begin(m), shares.begin(m + 1)));
        CHECK(member.cells == shares.cells() - sizes[static_cast<std::size_t>(m)]);
      }
    }
}

TEST_CASE("a relay adds in order, whatever its chunks") {
  std::pair<std::int64_t, std::int64_t> const cases[] = {{0, 4},   {1, 4},  {7, 1},  {7, 3},
                                                         {12, 12}, {40, 5}, {40, 40}};
  for (auto const n : sizes_of_groups)
    for (auto const& [cells, chunks] : cases) {
      CAPTURE(n);
      CAPTURE(cells);
      CAPTURE(chunks);
      Relay const relay{n, cells, chunks};
      auto const c = std::min(chunks, cells);
      auto const forward = [&](std::int64_t m) { return sum_by_relay(relay, m); };
      auto const both_ways = [&](std::int64_t m) { return sum_by_relay_to_all(relay, m); };

      auto const to_last = add(n, forward);
      auto const to_all = add(n, both_ways);

      CHECK(to_last.fault == "");
      CHECK(to_all.fault == "");
      CHECK(has_sums(to_last.members.back(), n, 0, cells));
      for (std::int64_t m = 0; m < n; ++m) {
        auto const at = static_cast<std::size_t>(m);
        auto const links = (m > 0 ? 1 : 0) + (m < n - 1 ? 1 : 0);
        CHECK(has_sums(to_all.members[at], n, 0, cells));
        CHECK(to_last.members[at].messages == (m < n - 1 ? c : 0));
        CHECK(to_last.members[at].cells == (m < n - 1 ? cells : 0));
        CHECK(to_all.members[at].messages == links * c);
        CHECK(to_all.members[at].cells == links * cells);
        CHECK(steps_of(forward(m)) <= chunks + 2);
        CHECK(steps_of(both_ways(m)) <= 2 * chunks + 3);
      }
      for (std::int64_t const slot_cells : {1, 2, 3}) {
        if (n > 20) break;
        auto const in_slots = add(n, both_ways, slot_cells);
        CHECK(in_slots.fault == "");
        CHECK(has_sums(in_slots.members[0], n, 0, cells));
        CHECK(add(n, forward, slot_cells).fault == "");
      }
    }
}

TEST_CASE("a tree takes values to the first member unadded, and sums to all") {
  for (auto const n : sizes_of_groups)
    for (std::int64_t const cells : {0, 1, 5}) {
      CAPTURE(n);
      CAPTURE(cells);
      auto const to_first = [&](std::int64_t m) { return sum_by_tree(n, cells, m); };
      auto const both_ways = [&](std::int64_t m) { return sum_by_tree_to_all(n, cells, m); };

      auto const up = add(n, to_first);
      auto const all = add(n, both_ways);

      CHECK(up.fault == "");
      CHECK(all.fault == "");
      CHECK(add(n, both_ways, 1).fault == "");
      CHECK(has_sums(up.members[0], n, 0, cells));
      for (std::int64_t m = 0; m < n; ++m) {
        auto const& member = all.members[static_cast<std::size_t>(m)];
        CHECK(has_sums(member, n, 0, cells));
        CHECK(member.messages <= ceil_log2(n));
        CHECK(up.members[static_cast<std::size_t>(m)].messages == (m > 0 && cells > 0 ? 1 : 0));
        CHECK(steps_of(to_first(m)) <= 2 + ceil_log2(n));
        CHECK(steps_of(both_ways(m)) <= 3 + ceil_log2(n));
      }
    }
}

TEST_CASE("counts travel first, then as many cells") {
  // Member m sends (m * 7 + to * 5) % 4 cells to member `to`; their values name both and the place.
  auto const count = [](std::int64_t from, std::int64_t to) { return (from * 7 + to * 5) % 4; };
  for (auto const n : sizes_of_groups) {
    CAPTURE(n);
    auto const value = [&](std::int64_t from, std::int64_t cell) { return from * 4 * n + cell; };
    CountedExchange const exchange{n, 4 * n, 4 * n};

    auto const result =
        simulate({n, [&](std::int64_t member) { return counts_then_cells(exchange, member); },
                  [&](std::int64_t member, std::size_t buffer, std::int64_t cell) -> SimulatedCell {
                    if (buffer == 0) return {count(member, cell)};
                    return {buffer == 1 ? value(member, cell) : -1};
                  }});

    CHECK(result.fault == "");
    for (std::int64_t m = 0; m < n; ++m) {
      auto const& member = result.members[static_cast<std::size_t>(m)];
      std::int64_t at = 0;
      for (std::int64_t from = 0; from < n; ++from) {
        std::int64_t sent_before = 0;
        for (std::int64_t to = 0; to < m; ++to) sent_before += count(from, to);
        for (std::int64_t i = 0; i < count(from, m); ++i, ++at)
          REQUIRE(member.buffers[3][static_cast<std::size_t>(at)] ==
                  SimulatedCell{value(from, sent_before + i)});
        CHECK(member.buffers[2][static_cast<std::size_t>(from)] == SimulatedCell{count(from, m)});
      }
    }
  }
}

TEST_CASE("a member's schedule does not grow with the group") {
  auto const relay_entries = [](std::int64_t members) {
    std::int64_t most = 0;
    for (std::int64_t const m : {std::int64_t{0}, members / 3, members - 2, members - 1}) {
      Relay const relay{members, 1 << 20, 64};
      most = std::max(
          {most, entries_of(sum_by_relay(relay, m)), entries_of(sum_by_relay_to_all(relay, m))});
    }
    return most;
  };
  constexpr std::int64_t million = std::int64_t{1} << 20;

  CHECK(relay_entries(64) <= 7 * 65);
  CHECK(relay_entries(4096) == relay_entries(64));
  CHECK(relay_entries(million) == relay_entries(64));
  CHECK(entries_of(sum_by_tree_to_all(million, 1, 12345)) <= 16);
  CHECK(entries_of(gather_by_doubling({million, [](std::int64_t m) { return 3 * m; }}, 777)) <=
        3 * 20);
}

TEST_CASE("a relay of 1024 members") {
  Relay const relay{1024, 3, 3};
  auto const result = add(1024, [&](std::int64_t m) { return sum_by_relay(relay, m); });

  CHECK(result.fault == "");
  CHECK(has_sums(result.members.back(), 1024, 0, 3));
}

TEST_CASE("planted faults are found") {
  auto const sizes = uneven(16);
  MemberHosts const hosts{16, 4};
  auto const changed_gather = [&](auto const& change) {
    return fault_of_gather(sizes, gather(
                                      sizes,
                                      [&](Pieces const& pieces, std::int64_t self) {
                                        auto schedule = gather_by_hosts(pieces, hosts, self);
                                        if (self == 5) change(schedule);
                                        return schedule;
                                      },
                                      hosts));
  };
  auto const changed_relay = [&](auto const& change) {
    auto const result = add(6, [&](std::int64_t m) {
      auto schedule = sum_by_relay({6, 8, 8}, m);
      if (m == 2) change(schedule);
      return schedule;
    });
    if (!result.fault.empty()) return result.fault;
    return std::string(has_sums(result.members.back(), 6, 0, 8) ? "" : "a wrong sum");
  };

  CHECK(changed_gather([](Schedule&) {}) == "");
  CHECK(changed_relay([](Schedule&) {}) == "");
  // A piece that is not forwarded: in the message, and as a message.
  CHECK(changed_gather([](Schedule& s) { s.steps[1].sends[0].ranges.pop_back(); }) ==
        "member 6 expects 3 cells of member 5, which sent 2");
  CHECK(changed_gather([](Schedule& s) { s.steps[1].sends.pop_back(); }) ==
        "member 4 waits in step 1 for member 5");
  // A chunk that is lost, one that is added twice, and one that is added before it has arrived.
  CHECK(changed_relay([](Schedule& s) { s.steps[4].sends.clear(); }) ==
        "member 3 waits in step 7 for member 2");
  CHECK(changed_relay([](Schedule& s) { s.steps[4].work.push_back(s.steps[4].work[0]); }) ==
        "a wrong sum");
  CHECK(changed_relay([](Schedule& s) { std::swap(s.steps[4].work, s.steps[5].work); }) ==
        "member 2 writes what it sends in step 5");
  // More messages than slots.
  CHECK(changed_relay([](Schedule& s) {
          auto const send = s.steps[3].sends[0];
          s.steps[3].sends.push_back(send);
        }) == "step 3 of member 2 names a member twice, or itself");
}

TEST_CASE("a sum in another order is found") {
  auto const result = add(5, [&](std::int64_t m) {
    auto schedule = sum_directly(pieces_of(even(5)), m);
    auto& work = schedule.steps.back().work;
    std::rotate(work.begin(), work.begin() + m, work.end());
    for (std::size_t i = 0; i < work.size(); ++i)
      work[i].kind = i == 0 ? ScheduledWork::Kind::copy : ScheduledWork::Kind::add;
    return schedule;
  });

  CHECK(result.fault == "");
  CHECK(has_sums(result.members[0], 5, 0, 2));
  CHECK(!has_sums(result.members[1], 5, 2, 4));
}

TEST_CASE("members that only send are stopped by the slots") {
  // Each sends three messages before it reads one.
  auto const result = add(2, [&](std::int64_t m) {
    Schedule schedule{{3, 3}, {}};
    for (std::int64_t c = 0; c < 3; ++c)
      schedule.append(ScheduleStep{{{1 - m, {{0, c, c + 1}}}}, {}, {}});
    for (std::int64_t c = 0; c < 3; ++c)
      schedule.append(ScheduleStep{{}, {}, {{1 - m, {{1, c, c + 1}}}}});
    return schedule;
  });

  CHECK(result.fault == "member 0 waits in step 2 for a slot to member 1");
}

TEST_CASE("a step that writes what it sends is found") {
  // Long messages are read from the buffer after the work has begun.
  auto const result = add(2, [&](std::int64_t m) {
    Schedule schedule{{3, 3}, {}};
    ScheduleStep step{{{1 - m, {{0, 0, 2}}}}, {}, {{1 - m, {{1, 0, 2}}}}};
    if (m == 1) step.work.push_back({ScheduledWork::Kind::add, {1, 0, 1}, {0, 1, 2}});
    schedule.append(step);
    return schedule;
  });

  CHECK(result.fault == "member 1 writes what it sends in step 0");
}

TEST_SUITE_END();
