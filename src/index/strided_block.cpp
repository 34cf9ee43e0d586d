#include "src/index/strided_block.hpp"

#include <algorithm>
#include <array>

#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"

namespace tessera {
namespace {

std::int64_t element_count(StridedBlock const& block) {
  std::int64_t count = 1;
  for (auto const extent : block.extents) count *= extent;
  return count;
}

/// The dimensions of `Sides` blocks with the same extents, put together from the last to the first.
template <std::size_t Sides>
class Merger {
 public:
  explicit Merger(std::int64_t element_bytes) : element_bytes_(element_bytes) {}

  /// Adds the next outer dimension: it continues the one inside it if on all sides its stride is
  /// that one's whole length.
  void add(std::int64_t extent, std::array<std::int64_t, Sides> const& strides) {
    if (extent == 1) return;
    if (extents_.empty() && all_equal(strides, element_bytes_)) {
      element_bytes_ *= extent;
    } else if (!extents_.empty() && continues(strides)) {
      extents_.back() *= extent;
    } else {
      extents_.push_back(extent);
      strides_.push_back(strides);
    }
  }

  [[nodiscard]] StridedBlock block(std::size_t side, std::int64_t offset_bytes) const {
    StridedBlock block;
    for (std::size_t d = extents_.size(); d-- > 0;) {
      block.extents.push_back(extents_[d]);
      block.strides_bytes.push_back(strides_[d][side]);
    }
    block.offset_bytes = offset_bytes;
    block.element_bytes = element_bytes_;
    return block;
  }

 private:
  static bool all_equal(std::array<std::int64_t, Sides> const& strides, std::int64_t value) {
    return std::all_of(strides.begin(), strides.end(),
                       [value](std::int64_t stride) { return stride == value; });
  }
  [[nodiscard]] bool continues(std::array<std::int64_t, Sides> const& strides) const {
    for (std::size_t side = 0; side < Sides; ++side)
      if (strides[side] != strides_.back()[side] * extents_.back()) return false;
    return true;
  }

  InlineVector<std::int64_t, 8> extents_;  // innermost first, as strides_
  InlineVector<std::array<std::int64_t, Sides>, 8> strides_;
  std::int64_t element_bytes_;
};

StridedBlock without_elements(StridedBlock const& block) {
  return {{0}, {0}, block.offset_bytes, block.element_bytes};
}

void check(StridedBlock const& block) {
  TESSERA_ASSERT(block.extents.size() == block.strides_bytes.size(), block);
}

}  // namespace

StridedBlock strided_block(Box const& box, Index const& first, Index const& strides,
                           std::int64_t element_bytes) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    block.extents.push_back(box.extent(d));
    block.strides_bytes.push_back(strides[d] * element_bytes);
    block.offset_bytes += (box.lo[d] - first[d]) * strides[d] * element_bytes;
  }
  return block;
}

std::ostream& operator<<(std::ostream& out, StridedBlock const& block) {
  return out << block.extents << " elements of " << block.element_bytes << " bytes at "
             << block.offset_bytes << " with strides " << block.strides_bytes;
}

std::int64_t stream_bytes(StridedBlock const& block) {
  return element_count(block) * block.element_bytes;
}

StridedBlock normalized(StridedBlock const& block) {
  check(block);
  if (stream_bytes(block) == 0) return without_elements(block);
  Merger<1> merger(block.element_bytes);
  for (std::size_t d = block.extents.size(); d-- > 0;)
    merger.add(block.extents[d], {block.strides_bytes[d]});
  return merger.block(0, block.offset_bytes);
}

std::size_t dense_dimension(StridedBlock const& block) {
  std::size_t d = 0;
  while (d < block.extents.size() &&
         (block.extents[d] < 2 || block.strides_bytes[d] != block.element_bytes))
    ++d;
  return d;
}

bool is_transposing(StridedBlock const& to, StridedBlock const& from) {
  auto const rank = from.extents.size();
  auto const element = from.element_bytes;
  bool const fills_lines = element > 0 && element <= 16 && line_bytes % element == 0;
  if (!fills_lines || rank < 2) return false;
  auto const along_row = dense_dimension(to), along_column = dense_dimension(from);
  if (along_row == rank || along_column == rank || along_row == along_column) return false;
  auto const least = line_bytes / element;
  return from.extents[along_row] >= least && from.extents[along_column] >= least;
}

BlockPair normalized(BlockPair const& pair) {
  auto const& [to, from] = pair;
  check(to);
  check(from);
  TESSERA_ASSERT(to.extents == from.extents && to.element_bytes == from.element_bytes, to, " from ",
                 from);
  if (stream_bytes(to) == 0) return {without_elements(to), without_elements(from)};
  Merger<2> merger(to.element_bytes);
  for (std::size_t d = to.extents.size(); d-- > 0;)
    merger.add(to.extents[d], {to.strides_bytes[d], from.strides_bytes[d]});
  return {merger.block(0, to.offset_bytes), merger.block(1, from.offset_bytes)};
}

}  // namespace tessera
