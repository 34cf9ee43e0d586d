#include "src/plan/schedules/schedule.hpp"

#include <utility>

namespace tessera {

std::ostream& operator<<(std::ostream& out, CellRange const& range) {
  return out << range.buffer << "[" << range.begin << ", " << range.end << ")";
}

void Schedule::append(ScheduleStep step) {
  if (!step.is_empty()) steps.push_back(std::move(step));
}

}  // namespace tessera
