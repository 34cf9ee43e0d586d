#include "tessera/ops/norms.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

void check_order(double order) {
  if (order != 1 && order != 2 && order != inf)
    throw UsageError(text("a norm of order ", order, "; the orders are 1, 2 and inf"));
}

}  // namespace tessera::detail
