#include "tessera/array/shift.hpp"

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"

namespace tessera::detail {

Shift shift_of(ShiftArguments const& arguments) {
  auto const rank = arguments.extents.size();
  check_counts(rank, arguments.offsets.size(), arguments.boundaries.size());
  Shift result{{}, arguments.at};
  for (std::size_t d = 0; d < rank; ++d) {
    auto const below = arguments.boundary(d).below.kind();
    auto const above = arguments.boundary(d).above.kind();
    check_boundaries(below, above, d);
    check_offset(arguments.offsets[d], d);
    result.dimensions.push_back(
        {arguments.extents[d], arguments.shown[d], {arguments.offsets[d], below, above, d}});
  }
  return result;
}

void check_no_constant(Shift const& shift) {
  for (auto const& dimension : shift.dimensions)
    if (dimension.reach.below == BoundaryKind::constant)
      throw UsageError(
          "a variable of type Boundary holds the constant past the edge of an expression: write "
          "constant(...) itself, or the variable in braces");
}

}  // namespace tessera::detail
