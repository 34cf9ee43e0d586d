// Complex numbers have no order: no <, no minimum, no remainder.
// expect-error: complex numbers have no order: use abs\(u\), real\(u\) or imag\(u\)

#include <complex>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

auto less(tessera::DistArray<std::complex<double>, 1> const& u) {
  return u < 2.0;
}
