// Floating and complex numbers have no bits to be shifted.
// expect-error: only integers and bools have bits

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

auto halves(tessera::DistArray<double, 1> const& u) {
  return tessera::DistArray(u >> 1);
}
