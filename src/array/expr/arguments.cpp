#include "tessera/detail/array/expr/arguments.hpp"

#include <algorithm>
#include <iterator>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

std::size_t resolve_axis(std::int64_t axis, std::size_t rank) {
  auto const dimensions = static_cast<std::int64_t>(rank);
  if (axis < -dimensions || axis >= dimensions)
    throw ShapeError(text("there is no axis ", axis, " in an array of ",
                          counted(dimensions, "dimension"), "; there are ", -dimensions, " to ",
                          dimensions - 1));
  return static_cast<std::size_t>(axis < 0 ? axis + dimensions : axis);
}

DimensionSet resolve_axes(std::span<std::int64_t const> numbers, std::size_t rank) {
  DimensionSet set = 0;
  for (auto const number : numbers) {
    auto const d = resolve_axis(number, rank);
    if (has_dimension(set, d))
      throw ShapeError(text("axis ", number, " names dimension ", d, " a second time in ",
                            join(numbers, "axis(", ")"), "; name each dimension once"));
    set |= DimensionSet{1} << d;
  }
  return set;
}

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

void check_boundaries(BoundaryKind below, BoundaryKind above, std::size_t dimension) {
  if ((below == BoundaryKind::periodic) != (above == BoundaryKind::periodic))
    throw UsageError(text("dimension ", dimension,
                          " is periodic at one end only; make both ends periodic or neither"));
}

void check_offset(std::int64_t offset, std::size_t dimension) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (offset < -most || offset > most)
    throw UsageError(text("dimension ", dimension, " is shifted by ", offset,
                          " cells; an offset has a magnitude of at most 2^62"));
}

void check_counts(std::size_t rank, std::size_t offsets, std::size_t boundaries) {
  if (offsets != rank)
    throw ShapeError(text(
        "shift got ", counted(static_cast<std::int64_t>(offsets), "offset"), " for an array of ",
        counted(static_cast<std::int64_t>(rank), "dimension"), "; give one per dimension"));
  if (boundaries != 1 && boundaries != rank)
    throw ShapeError(text("shift got ", boundaries, " boundaries for an array of ",
                          counted(static_cast<std::int64_t>(rank), "dimension"),
                          "; give one for all or one per dimension"));
}

}  // namespace tessera::detail
