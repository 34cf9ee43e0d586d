#include "tessera/array/rearrange.hpp"

#include <algorithm>
#include <iterator>

#include "src/base/text.hpp"

namespace tessera::detail {

std::size_t resolve_axes(std::span<std::int64_t const> axes, std::size_t rank,
                         std::span<std::size_t> dimensions) {
  std::size_t used = 0;
  for (auto const axis : axes) {
    auto const d = resolve_axis(axis, rank);
    auto const known = dimensions.first(used);
    if (std::find(known.begin(), known.end(), d) != known.end())
      throw ShapeError(text("axis ", axis, " is named twice; name each axis once"));
    dimensions[used++] = d;
  }
  return used;
}

void resolve_order(std::span<std::int64_t const> axes, std::span<std::size_t> dimensions) {
  if (axes.size() != dimensions.size())
    throw ShapeError(text("transpose got ", axes.size(), axes.size() == 1 ? " axis" : " axes",
                          " for an array of ", counted(std::ssize(dimensions), "dimension"),
                          "; name each dimension once"));
  (void)resolve_axes(axes, dimensions.size(), dimensions);
}

}  // namespace tessera::detail
