// A complex number becomes a real one only by saying which part of it.
// expect-error: a complex number is not a real one: use real\(u\), imag\(u\) or abs\(u\)

#include <complex>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

auto reals(tessera::DistArray<std::complex<double>, 1> const& u) {
  return tessera::DistArray(tessera::cast<float>(u));
}
