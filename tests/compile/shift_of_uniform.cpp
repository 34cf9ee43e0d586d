// The neighbours of random numbers are other cells of an array that holds them.
// expect-error: random numbers without an array cannot be shifted

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/random/random.hpp"

auto moved(tessera::DistArray<double, 1> const& u, tessera::random::Key const& key) {
  return tessera::DistArray(tessera::roll(u * tessera::random::uniform(key), 1, 0));
}
