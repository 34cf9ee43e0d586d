// Nor in an assignment.
// expect-error: a complex number is not a real one: use real\(u\), imag\(u\) or abs\(u\)

#include <complex>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

void assign(tessera::DistArray<double, 1>& x, tessera::DistArray<std::complex<float>, 1> const& u) {
  x = 2.0 * u;
}
