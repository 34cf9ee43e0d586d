// The result of an outer product would have nine dimensions.
// expect-error: einsum: labels are letters.*at most 8 of one array

#include "tessera/ops/einsum.hpp"

auto product(tessera::DistArray<double, 5> const& a, tessera::DistArray<double, 4> const& b) {
  return tessera::einsum<"abcde,fghi">(a, b);
}
