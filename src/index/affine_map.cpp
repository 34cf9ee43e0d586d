#include "src/index/affine_map.hpp"

#include <algorithm>
#include <numeric>

#include "src/index/index.hpp"

namespace tessera {
namespace detail {

AffineMap AffineMap::identity(std::size_t rank) {
  AffineMap map{rank, {}};
  for (std::size_t d = 0; d < rank; ++d) map.axes.push_back({static_cast<int>(d), 0, 1});
  return map;
}

bool AffineMap::follows_steps() const {
  return std::any_of(axes.begin(), axes.end(),
                     [](AxisMap const& axis) { return axis.per_step != 0; });
}

Index AffineMap::operator()(Index const& i) const {
  Index cell;
  for (auto const& axis : axes)
    cell.push_back(axis.from == AxisMap::fixed
                       ? axis.offset
                       : axis.offset + axis.stride * i[static_cast<std::size_t>(axis.from)]);
  return cell;
}

Box AffineMap::image(Box const& indices) const {
  if (indices.empty()) return Box::none(rank());
  Box result{Index(rank(), 0), Index(rank(), 0)};
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const& axis = axes[d];
    auto first = axis.offset;
    auto last = axis.offset;
    if (axis.from != AxisMap::fixed) {
      auto const from = static_cast<std::size_t>(axis.from);
      first += axis.stride * indices.lo[from];
      last += axis.stride * (indices.hi[from] - 1);
    }
    result.lo[d] = std::min(first, last);
    result.hi[d] = std::max(first, last) + 1;
  }
  return result;
}

Box AffineMap::preimage(Box const& cells, Box const& within) const {
  if (cells.empty()) return Box::none(rank_in);
  Box result = within;
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const& axis = axes[d];
    if (axis.from == AxisMap::fixed) {
      if (axis.offset >= cells.lo[d] && axis.offset < cells.hi[d]) continue;
      return Box::none(rank_in);
    }
    auto const from = static_cast<std::size_t>(axis.from);
    auto const below = cells.lo[d] - axis.offset;
    auto const last = cells.hi[d] - 1 - axis.offset;
    auto const first_index =
        axis.stride > 0 ? ceil_div(below, axis.stride) : ceil_div(last, axis.stride);
    auto const last_index =
        axis.stride > 0 ? floor_div(last, axis.stride) : floor_div(below, axis.stride);
    result.lo[from] = std::max(result.lo[from], first_index);
    result.hi[from] = std::min(result.hi[from], last_index + 1);
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, AffineMap const& map) {
  out << '(';
  for (std::size_t d = 0; d < map.rank(); ++d) {
    auto const& axis = map.axes[d];
    if (d != 0) out << ", ";
    if (axis.from == AxisMap::fixed) {
      out << axis.offset;
      continue;
    }
    if (axis.stride != 1) out << axis.stride << ' ';
    out << 'i' << axis.from;
    if (axis.offset != 0) out << (axis.offset > 0 ? " + " : " - ") << std::abs(axis.offset);
  }
  return out << ')';
}

}  // namespace detail

bool ranges_intersect(std::int64_t first_a, std::int64_t stride_a, std::int64_t count_a,
                      std::int64_t first_b, std::int64_t stride_b, std::int64_t count_b) {
  if (count_a <= 0 || count_b <= 0) return false;
  if (stride_a == 0) stride_a = count_a = 1;
  if (stride_b == 0) stride_b = count_b = 1;
  auto const last_a = first_a + stride_a * (count_a - 1);
  auto const last_b = first_b + stride_b * (count_b - 1);
  auto const low = std::max(std::min(first_a, last_a), std::min(first_b, last_b));
  auto const high = std::min(std::max(first_a, last_a), std::max(first_b, last_b));
  if (low > high) return false;
  auto const a = std::abs(stride_a);
  auto const b = std::abs(stride_b);
  auto const divisor = std::gcd(a, b);
  if (floor_mod(first_a - first_b, divisor) != 0) return false;
  // A common cell exists somewhere; walk the coarser range through the overlap to the first one. At
  // most the finer stride over the divisor steps are needed before the pattern repeats.
  auto const first = a >= b ? first_a : first_b;
  auto const other = a >= b ? first_b : first_a;
  auto const coarse = std::max(a, b);
  auto const fine = std::min(a, b);
  auto cell = low + floor_mod(first - low, coarse);
  for (std::int64_t tried = 0; tried < fine / divisor && cell <= high; ++tried, cell += coarse)
    if (floor_mod(cell - other, fine) == 0) return true;
  return false;
}

}  // namespace tessera
