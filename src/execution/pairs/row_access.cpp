#include "src/execution/pairs/row_access.hpp"

#include <algorithm>
#include <cstdlib>

#include "src/index/index.hpp"

namespace tessera {
namespace {

// True if the rows have the same stride and touch separate columns.
bool lie_in_separate_columns(RowAccess const& a, RowAccess const& b) {
  if (a.stride != b.stride || a.stride <= 0) return false;
  auto const distance = floor_mod(b.first - a.first, a.stride);
  return distance >= a.span && distance + b.span <= a.stride;
}

bool overlap(RowAccess const& a, RowAccess const& b) {
  return a.lowest() < b.past() && b.lowest() < a.past();
}

}  // namespace

RowAccess access_of_rows(Elements const& elements, Index const& extents, Index const& strides) {
  RowAccess access{elements.address, strides[0] * elements.bytes, elements.bytes, extents[0]};
  for (std::size_t d = 1; d < extents.size(); ++d) {
    auto const reach = (extents[d] - 1) * strides[d] * elements.bytes;
    access.first += std::min<std::int64_t>(reach, 0);
    access.span += std::abs(reach);
  }
  return access;
}

RowAccess access_of_block(std::int64_t base, StridedBlock const& block, std::int64_t stride) {
  RowAccess access{base + block.offset_bytes, 0, block.element_bytes, 1};
  for (std::size_t d = 0; d < block.extents.size(); ++d) {
    if (block.strides_bytes[d] == stride && access.stride == 0) {
      access.stride = stride;
      access.rows = block.extents[d];
      continue;
    }
    auto const reach = (block.extents[d] - 1) * block.strides_bytes[d];
    access.first += std::min<std::int64_t>(reach, 0);
    access.span += std::abs(reach);
  }
  return access;
}

bool are_apart(RowAccess const& a, RowAccess const& b) {
  return !overlap(a, b) || lie_in_separate_columns(a, b);
}

std::optional<std::int64_t> skew_between(std::span<RowAccess const> first,
                                         std::span<RowAccess const> second) {
  std::int64_t skew = 0;
  for (auto const& x : first)
    for (auto const& y : second) {
      if ((!x.writes && !y.writes) || are_apart(x, y)) continue;
      if (x.stride != y.stride || x.stride <= 0) return std::nullopt;
      // Row q of x begins before row r of y ends:  x + q * stride < y + r * stride + span.
      skew = std::max(skew, floor_div(y.first - x.first + y.span - 1, x.stride));
    }
  return skew;
}

std::int64_t bytes_of_a_row(std::span<RowAccess const> accesses) {
  std::int64_t bytes = 0;
  for (auto a = accesses.begin(); a != accesses.end(); ++a) {
    bool const is_counted =
        std::any_of(accesses.begin(), a, [&](RowAccess const& b) { return overlap(*a, b); });
    if (!is_counted) bytes += std::abs(a->stride);
  }
  return bytes;
}

}  // namespace tessera
