// Nor is one of them the largest.
// expect-error: complex numbers have no order: reduce abs\(u\), real\(u\) or imag\(u\)

#include <complex>

#include "tessera/ops/reductions.hpp"

auto largest(tessera::DistArray<std::complex<float>, 2> const& u) {
  return max(u);
}
