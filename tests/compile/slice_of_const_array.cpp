// A slice of a const array is no target.
// expect-error: use of deleted function
// expect-error: a const array is only read

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

void clear(tessera::DistArray<double, 1> const& u) {
  u(tessera::range(0, 3)) = 0.0;
}
