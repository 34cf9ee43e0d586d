#include "tessera/detail/ops/terms.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

double terms_of(Shape const& shape) {
  return static_cast<double>(cells_of(shape));
}

double terms_of(Shape const& shape, std::span<std::int64_t const> axes) {
  return static_cast<double>(count_terms(shape, resolve_axes(axes, shape.size())));
}

void check_not_empty(Shape const& shape, char const* kind) {
  if (cells_of(shape) == 0)
    throw ShapeError(text(kind, " of an array of shape ", shape, ", which has no cells"));
}

void check_not_empty(Shape const& shape, std::span<std::int64_t const> axes, char const* kind) {
  auto const reduced = resolve_axes(axes, shape.size());
  std::int64_t results = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!has_dimension(reduced, d)) results *= shape[d];
  if (count_terms(shape, reduced) == 0 && results != 0)
    throw ShapeError(text(kind, " of an array of shape ", shape, " along ",
                          join(axes, "axis(", ")"), ", which has no cells"));
}

}  // namespace tessera::detail
