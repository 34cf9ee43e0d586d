#include "tessera/array/shift.hpp"

#include "src/base/text.hpp"
#include "src/plan/access.hpp"

namespace tessera::detail {

void check_boundaries(Boundaries const& boundaries, std::size_t dimension) {
  bool const below = boundaries.below.kind() == BoundaryKind::periodic;
  bool const above = boundaries.above.kind() == BoundaryKind::periodic;
  if (below != above)
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
