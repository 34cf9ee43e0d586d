// A product of masks would be a number of what?
// expect-error: only numbers have products

#include "tessera/array/operators.hpp"
#include "tessera/ops/products.hpp"

auto product(tessera::DistArray<double, 2> const& a) {
  return tessera::matmul(a < 0.5, a);
}
