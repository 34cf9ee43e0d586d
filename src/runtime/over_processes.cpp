#include "src/runtime/over_processes.hpp"

#include "src/execution/tree_reduction.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/tree_collectives.hpp"

namespace tessera::detail {

void or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                       Collective const& collective) {
  engine().collectives().or_over_processes(bytes, location, collective);
}

void or_unheard(std::span<std::byte> bytes, SourceLocation const& location,
                Collective const& collective) {
  auto& collectives = engine().collectives();
  collectives.guarded([&] { collectives.combine(bytes, or_bytes, collective, location); });
}

double rendezvous_seconds() {
  return engine().collectives().rendezvous_seconds();
}

Caches least_caches() {
  return engine().collectives().least_caches();
}

}  // namespace tessera::detail
