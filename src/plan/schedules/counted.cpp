#include "src/plan/schedules/counted.hpp"

#include <utility>

namespace tessera {

Schedule counts_then_cells(CountedExchange const& exchange, std::int64_t self) {
  auto const n = exchange.members;
  constexpr std::size_t counts_out = 0, cells_out = 1, counts_in = 2, cells_in = 3;
  Schedule schedule{{n, exchange.most_sent, n, exchange.most_received}, {}};
  ScheduleStep counts;
  ScheduleStep cells;
  counts.work.push_back(
      {ScheduledWork::Kind::copy, {counts_out, self, self + 1}, {counts_in, self, self + 1}});
  cells.work.push_back({ScheduledWork::Kind::copy,
                        {},
                        {},
                        CountedRange{cells_out, counts_out, self},
                        CountedRange{cells_in, counts_in, self}});
  for (std::int64_t i = 1; i < n; ++i) {
    auto const to = (self + i) % n;
    auto const from = (self + n - i) % n;
    counts.sends.push_back({to, {{counts_out, to, to + 1}}});
    counts.receives.push_back({from, {{counts_in, from, from + 1}}});
    cells.sends.push_back({to, {}, CountedRange{cells_out, counts_out, to}});
    cells.receives.push_back({from, {}, CountedRange{cells_in, counts_in, from}});
  }
  schedule.append(std::move(counts));
  schedule.append(std::move(cells));
  return schedule;
}

}  // namespace tessera
