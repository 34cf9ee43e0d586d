#include "tessera/detail/array/expr/moved.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"

namespace tessera::detail {
namespace {

// Beyond every coordinate, and no sum of two such numbers overflows.
constexpr std::int64_t far = std::int64_t{1} << 62;

[[noreturn]] void refuse(SourceLocation const& at, std::string_view what) {
  throw UsageError(text(at.known() ? text(at, ": ") : "", what,
                        "; assign the shifted array to one of its own first"));
}

// The positions of a dimension that an operand of `extent` cells has there: a single one is
// repeated.
ResolvedRange range_of(ShownDimension const& dimension, std::int64_t extent) {
  return extent == 1 && dimension.extent != 1 ? ResolvedRange{0, 1, 1} : dimension.range;
}

// The position inside that one past an edge shows.
std::int64_t position_at(std::int64_t p, std::int64_t extent, Reach const& reach,
                         SourceLocation const& at) {
  if (p >= 0 && p < extent) return p;
  switch (p < 0 ? reach.below : reach.above) {
    case BoundaryKind::periodic:
      return floor_mod(p, extent);
    case BoundaryKind::symmetric:
      return std::min(floor_mod(p, 2 * extent), 2 * extent - 1 - floor_mod(p, 2 * extent));
    case BoundaryKind::reflect: {
      if (extent == 1) return 0;
      auto const folded = floor_mod(p, 2 * extent - 2);
      return std::min(folded, 2 * extent - 2 - folded);
    }
    case BoundaryKind::constant:
      refuse(at, "a slice shows only cells past a constant edge");
    default:
      return p < 0 ? 0 : extent - 1;
  }
}

}  // namespace

Rearrangement all_of(std::span<std::int64_t const> extents, SourceLocation const& at) {
  Rearrangement result{{}, at};
  for (auto const extent : extents)
    result.dimensions.push_back(
        {extent, {0, 1, extent}, static_cast<int>(result.dimensions.size())});
  return result;
}

void rearrange(Rearrangement const& how, std::span<std::int64_t const> extents,
               std::span<ViewAxis> axes, std::span<std::int64_t> shown) {
  auto const missing = how.dimensions.size() - extents.size();
  std::fill(shown.begin(), shown.end(), 1);
  for (std::size_t d = 0; d < extents.size(); ++d) {
    auto const& dimension = how.dimensions[d + missing];
    if (dimension.to != ViewAxis::fixed)
      shown[static_cast<std::size_t>(dimension.to)] = range_of(dimension, extents[d]).count;
  }
  for (auto& axis : axes) {
    if (axis.from == ViewAxis::fixed) continue;
    auto const d = static_cast<std::size_t>(axis.from);
    auto const& dimension = how.dimensions[d + missing];
    axis = axis.narrowed(range_of(dimension, extents[d]), dimension.to);
  }
}

ReachedDimension rearranged(ShownDimension const& wanted, std::int64_t extent, std::int64_t shown,
                            Reach const& reach, SourceLocation const& at) {
  auto const range = range_of(wanted, shown);
  auto const first = range.first + reach.offset;
  auto const last = first + range.step * (range.count - 1);
  ReachedDimension result{{extent, {0, 1, extent}, wanted.to}, range.count, {}, false};
  auto& of_view = result.of_view.range;
  if (wanted.to == ViewAxis::fixed) {
    of_view = {position_at(first, extent, reach, at), 1, 1};
  } else if (range.count == 0) {
    of_view = {0, 1, 0};
  } else if (std::min(first, last) >= 0 && std::max(first, last) < extent) {
    of_view = {first, range.step, range.count};
  } else if (range.step == 1) {
    result.reach = reach;
    result.reach.offset = first;
  } else if (range.step == -1) {
    of_view = {extent - 1, extent == 1 ? 1 : -1, extent};
    result.reach = {extent - 1 - first, reach.above, reach.below, reach.number};
    result.is_turned = true;
  } else {
    refuse(at, text("a slice by steps of ", range.step,
                    " shows cells past the edge of a shifted array"));
  }
  return result;
}

Reach shifted(Reach const& inner, bool is_padded, ShiftedDimension const& outer,
              SourceLocation const& at) {
  if (inner.offset == 0 && !is_padded) return outer.reach;
  if (is_padded || inner.below != BoundaryKind::periodic ||
      outer.reach.below != BoundaryKind::periodic)
    refuse(at,
           "a shifted or padded array is shifted again in the same dimension, not periodic both "
           "times");
  auto result = outer.reach;
  result.offset += inner.offset;
  return result;
}

FirstAndLast inside_of(ShiftedDimension const& dimension) {
  auto const& reach = dimension.reach;
  return {reach.below == BoundaryKind::constant ? -reach.offset : -far,
          reach.above == BoundaryKind::constant ? dimension.extent - 1 - reach.offset : far};
}

ShiftedIndex shifted_index(ShiftedDimension const& dimension, SourceLocation const& at) {
  auto const extent = dimension.extent;
  auto const& reach = dimension.reach;
  auto const folds = [](BoundaryKind kind) {
    return kind == BoundaryKind::periodic || is_mirror(kind);
  };
  if (folds(reach.below) && folds(reach.above) && reach.below != reach.above)
    refuse(at, "index(d) is shifted past edges that reflect in two ways");
  ShiftedIndex result{folds(reach.below) ? -far : 0,
                      folds(reach.above) ? far : std::max<std::int64_t>(extent - 1, 0), far, far};
  auto const kind = folds(reach.below) ? reach.below : reach.above;
  if (kind == BoundaryKind::periodic) result.period = extent;
  if (kind == BoundaryKind::symmetric)
    result = {result.low, result.high, 2 * extent, 2 * extent - 1};
  if (kind == BoundaryKind::reflect)
    result = extent > 1 ? ShiftedIndex{result.low, result.high, 2 * extent - 2, 2 * extent - 2}
                        : ShiftedIndex{result.low, result.high, 1, far};
  return result;
}

}  // namespace tessera::detail
