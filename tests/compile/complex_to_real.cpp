// A complex number becomes a real one only by saying which part of it.
// expect-error: a complex number is no real one: take real\(u\), imag\(u\) or abs\(u\)

#include <complex>

#include "tessera/expr/assign.hpp"
#include "tessera/expr/operators.hpp"

auto reals(tessera::DistArray<std::complex<double>, 1> const& u) {
  return tessera::DistArray(tessera::cast<float>(u));
}
