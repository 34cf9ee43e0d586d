// Each dimension has a label.
// expect-error: an operand has another number of dimensions than labels

#include "tessera/ops/einsum.hpp"

auto sums(tessera::DistArray<double, 2> const& a) {
  return tessera::einsum<"ijk->i">(a);
}
