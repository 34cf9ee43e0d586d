// Diagonals have no labels.
// expect-error: einsum: a label occurs twice in one operand

#include "tessera/ops/einsum.hpp"

auto diagonal(tessera::DistArray<double, 2> const& a) {
  return tessera::einsum<"ii->i">(a);
}
