#pragma once
/// @file
/// Schedules of exchanges whose sizes the devices find out as they run.

#include <cstdint>

#include "src/plan/schedules/schedule.hpp"

namespace tessera {

/// Each member sends a part of its cells to each member. Only the sender knows how many, so the
/// counts travel first. All know bounds of a member's cells.
///
/// Buffer 0 has the counts for each member, 1 the cells for them, one member behind the other, 2
/// the counts that arrive and 3 the cells that do, in the order of members. What a member keeps is
/// among them. Cost: O(members) time; two steps, of a message to each other member.
struct CountedExchange {
  std::int64_t members = 1;
  std::int64_t most_sent = 0;
  std::int64_t most_received = 0;
};
[[nodiscard]] Schedule counts_then_cells(CountedExchange const& exchange, std::int64_t self);

}  // namespace tessera
