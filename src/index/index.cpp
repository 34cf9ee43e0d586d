#include "src/index/index.hpp"

#include <iterator>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {

std::int64_t cells_of(Shape const& shape) {
  std::int64_t cells = 1;
  for (auto const extent : shape) cells *= extent;
  return cells;
}

Index detail::row_major_strides(Shape const& shape) {
  Index strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

void detail::check_shape(Shape const& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  std::int64_t cells = 1;
  for (auto const extent : shape) {
    if (extent < 0)
      throw ShapeError(text("the shape ", shape, " has a negative extent; extents are 0 or more"));
    if (extent != 0 && cells > most / extent)
      throw ShapeError(text("the shape ", shape, " has more than 2^62 cells"));
    cells *= extent == 0 ? 1 : extent;
  }
}

void detail::check_shape(Shape const& shape, std::size_t rank) {
  check_shape(shape);
  if (shape.size() != rank)
    throw ShapeError(text("the shape ", shape, " has ", counted(std::ssize(shape), "dimension"),
                          " but the array has ", rank == 0 ? "none" : std::to_string(rank)));
}

}  // namespace tessera
