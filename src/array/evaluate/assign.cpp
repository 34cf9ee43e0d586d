#include "tessera/detail/array/evaluate/assign.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

void refuse_assignment(Shape const& value, Shape const& target) {
  throw ShapeError(text("an expression of shape ", value, " cannot be assigned to ", target,
                        "; extents must be equal or 1, from the last on"));
}

}  // namespace tessera::detail
