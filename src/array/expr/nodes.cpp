#include "tessera/detail/array/expr/nodes.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

void refuse_broadcast(Shape const& a, Shape const& b) {
  throw ShapeError(text("the shapes ", a, " and ", b,
                        " do not fit together; extents must be equal or 1, from the last on"));
}

}  // namespace tessera::detail
