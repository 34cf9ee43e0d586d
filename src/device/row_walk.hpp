#pragma once
/// @file
/// The rows of a strided block, one after the other.

#include <array>
#include <cstddef>
#include <cstdint>

#include "src/index/strided_block.hpp"

namespace tessera {

inline std::int64_t row_length(StridedBlock const& block) {
  return block.extents.empty() ? 1 : block.extents.back();
}

inline std::int64_t row_stride(StridedBlock const& block) {
  return block.strides_bytes.empty() ? 0 : block.strides_bytes.back();
}

/// Walks the rows of a block: knows the place of element (i, ..., j, 0) and steps to the next row.
/// Lifetime: not longer than the block.
class RowWalk {
 public:
  RowWalk(StridedBlock const& block, std::int64_t row) : block_(block), place_(block.offset_bytes) {
    if (row == 0) return;
    for (std::size_t d = outer_dimensions(); d-- > 0;) {
      index_[d] = row % block_.extents[d];
      place_ += index_[d] * block_.strides_bytes[d];
      row /= block_.extents[d];
    }
  }

  [[nodiscard]] std::int64_t place() const { return place_; }

  /// From the last row, goes back to the first.
  void next() {
    for (std::size_t d = outer_dimensions(); d-- > 0;) {
      place_ += block_.strides_bytes[d];
      if (++index_[d] < block_.extents[d]) return;
      place_ -= block_.extents[d] * block_.strides_bytes[d];
      index_[d] = 0;
    }
  }

 private:
  [[nodiscard]] std::size_t outer_dimensions() const {
    return block_.extents.empty() ? 0 : block_.extents.size() - 1;
  }

  StridedBlock const& block_;
  std::int64_t place_;
  std::array<std::int64_t, 8> index_{};
};

}  // namespace tessera
