#include "tessera/detail/random/random_node.hpp"

namespace tessera::detail {
namespace {

/// Row-major numbers of the cells of an index space with these extents.
[[nodiscard]] CellNumbers row_major_numbers(std::span<std::int64_t const> extents) {
  CellNumbers result{true, extents.size()};
  std::int64_t stride = 1;
  for (std::size_t d = extents.size(); d-- > 0; stride *= extents[d]) result.strides[d] = stride;
  return result;
}

}  // namespace

CellNumbers CellNumbers::moved(Rearrangement const& how, std::size_t dimensions) const {
  Index extents;
  for (auto const& dimension : how.dimensions) extents.push_back(dimension.extent);
  auto const before = has_frame ? *this : row_major_numbers(extents);
  CellNumbers result{true, dimensions, before.first};
  auto const outside = how.dimensions.size() - before.frame;
  for (std::size_t d = 0; d < before.frame; ++d) {
    auto const& shown = how.dimensions[outside + d];
    result.first += before.strides[d] * shown.range.first;
    if (shown.to != ViewAxis::fixed)
      result.strides[static_cast<std::size_t>(shown.to)] += before.strides[d] * shown.range.step;
  }
  return result;
}

CellNumbers CellNumbers::in(Index const& extents) const {
  if (!has_frame) return row_major_numbers(extents);
  CellNumbers result{true, extents.size(), first};
  for (std::size_t d = 0; d < frame; ++d) result.strides[extents.size() - frame + d] = strides[d];
  return result;
}

}  // namespace tessera::detail
