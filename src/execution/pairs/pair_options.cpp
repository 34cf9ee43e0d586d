#include "src/execution/pairs/pair_options.hpp"

#include "src/base/environment.hpp"
#include "src/device/caches.hpp"
#include "src/device/row_launch.hpp"

namespace tessera {

std::int64_t PairOptions::value_of_variable() {
  return environment_integer("TESSERA_TOGETHER", 0).value_or(1);
}

PairOptions PairOptions::from_environment(QueueTraits const& traits) {
  auto const value = value_of_variable();
  PairOptions options;
  // The device's own thread computes one band after the other, so neither statements in a queue nor
  // those that several threads compute can be paired.
  if (value == 0 || !traits.is_eager || launch_is_parallel()) return options;
  auto const cache = core_caches().second;
  options.least_bytes = value > 1 ? 0 : cache;
  options.band_bytes = cache / 2;
  options.forced_rows = value > 1 ? value : 0;
  return options;
}

}  // namespace tessera
