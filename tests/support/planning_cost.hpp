#pragma once
/// @file
/// What it costs to plan for one device, from the mesh on.

#include <cstdint>
#include <ostream>

namespace tessera::test {

struct PlanningCost {
  std::int64_t devices_visited = 0;
  std::int64_t bytes_allocated = 0;
  std::int64_t transfers = 0;
  friend bool operator==(PlanningCost const&, PlanningCost const&) = default;
  friend std::ostream& operator<<(std::ostream& out, PlanningCost const& cost) {
    return out << cost.devices_visited << " devices visited, " << cost.bytes_allocated
               << " bytes allocated, " << cost.transfers << " transfers";
  }
};

}  // namespace tessera::test
