#include "src/runtime/over_processes.hpp"

#include "src/runtime/engine.hpp"
#include "src/runtime/tree_collectives.hpp"

namespace tessera::detail {

void or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                       Collective const& collective) {
  engine().collectives().or_over_processes(bytes, location, collective);
}

double rendezvous_seconds() {
  return engine().collectives().rendezvous_seconds();
}

Caches least_caches() {
  return engine().collectives().least_caches();
}

}  // namespace tessera::detail
