#include "tessera/detail/array/expr/nodes.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

void refuse_broadcast(Shape const& a, Shape const& b) {
  throw ShapeError(text("the shapes ", a, " and ", b,
                        " do not fit together; extents must be equal or 1, from the last on"));
}

void refuse_index(std::size_t d, std::size_t rank) {
  throw ShapeError(text("index(", d, ") in a statement or an expression of ",
                        counted(static_cast<std::int64_t>(rank), "dimension"),
                        "; they are counted from 0"));
}

}  // namespace tessera::detail
