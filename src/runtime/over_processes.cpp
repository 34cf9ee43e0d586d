#include "src/runtime/over_processes.hpp"

#include "src/runtime/engine.hpp"
#include "src/runtime/tree_collectives.hpp"

namespace tessera::detail {

void or_over_processes(std::span<std::byte> bytes, Place const& place, Meeting const& meeting) {
  engine().collectives().or_over_processes(bytes, place, meeting);
}

double meeting_seconds() {
  return engine().collectives().meeting_seconds();
}

Caches least_caches() {
  return engine().collectives().least_caches();
}

}  // namespace tessera::detail
