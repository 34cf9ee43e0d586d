#pragma once
/// @file
/// Cuts that are formulas.

#include <algorithm>
#include <cstdint>

#include "tessera/layout/cut.hpp"

#include "src/index/index.hpp"

namespace tessera {

/// A cut that is a formula, of one extent: blocks of `unit` cells, of which the last may be short,
/// are cut as if each were a cell.
class CutFormula {
 public:
  /// Of a rule that makes one piece for each way and lists none.
  CutFormula(Cut const& cut, std::int64_t extent, std::int64_t ways)
      : is_ceil_(cut.kind() == Cut::Kind::ceil),
        unit_(cut.unit_cells()),
        extent_(extent),
        blocks_(ceil_div(extent, unit_)),
        ways_(ways) {}

  /// Where piece k begins; the extent for k = ways.
  [[nodiscard]] std::int64_t border(std::int64_t k) const {
    auto const block = is_ceil_ ? k * ceil_div(blocks_, ways_)
                                : k * (blocks_ / ways_) + std::min(k, blocks_ % ways_);
    return std::min(block * unit_, extent_);
  }
  /// The piece that holds a cell, 0 <= cell < extent.
  [[nodiscard]] std::int64_t piece_with(std::int64_t cell) const {
    auto const block = cell / unit_;
    if (is_ceil_) return block / ceil_div(blocks_, ways_);
    auto const small = blocks_ / ways_;
    auto const large_pieces = blocks_ % ways_;
    auto const in_large = large_pieces * (small + 1);
    return block < in_large ? block / (small + 1) : large_pieces + (block - in_large) / small;
  }
  /// The k at which the growth of border k changes.
  [[nodiscard]] std::int64_t bend() const {
    if (extent_ == 0) return 0;
    return is_ceil_ ? blocks_ / ceil_div(blocks_, ways_) : blocks_ % ways_;
  }
  /// The most cells of a piece.
  [[nodiscard]] std::int64_t largest() const {
    return std::min(ceil_div(blocks_, ways_) * unit_, extent_);
  }

 private:
  bool is_ceil_;
  std::int64_t unit_;
  std::int64_t extent_;
  std::int64_t blocks_;
  std::int64_t ways_;
};

}  // namespace tessera
