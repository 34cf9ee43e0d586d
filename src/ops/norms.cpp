#include "tessera/ops/norms.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

void check_order(double order) {
  if (order != 1 && order != 2 && order != inf)
    throw UsageError(text("a norm of order ", order, "; the orders are 1, 2 and inf"));
}

void check_dot(Shape const& a, Shape const& b) {
  if (a != b) throw ShapeError(text("dot of shapes ", a, " and ", b, ", which must be equal"));
}

}  // namespace tessera::detail
