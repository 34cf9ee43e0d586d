// Nor in an assignment.
// expect-error: a complex number is no real one: take real\(u\), imag\(u\) or abs\(u\)

#include <complex>

#include "tessera/expr/assign.hpp"
#include "tessera/expr/operators.hpp"

void assign(tessera::DistArray<double, 1>& x, tessera::DistArray<std::complex<float>, 1> const& u) {
  x = 2.0 * u;
}
