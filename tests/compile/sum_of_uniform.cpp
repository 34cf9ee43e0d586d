// Random numbers take their shape from a statement, and a sum of nothing else has none.
// expect-error: random numbers without an array have the shape of the statement around them

#include "tessera/ops/reductions.hpp"
#include "tessera/random/random.hpp"

double total(tessera::random::Key const& key) {
  return tessera::sum(tessera::random::uniform(key));
}
