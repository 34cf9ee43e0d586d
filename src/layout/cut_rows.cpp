// How the cut of rows is written as one of cells, and back: for reshapes.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/layout/cut.hpp"

#include "src/index/index.hpp"
#include "src/layout/cut_lists.hpp"

namespace tessera {

std::vector<std::int64_t> Cut::sizes_listed() const {
  std::vector<std::int64_t> sizes;
  for (std::int64_t k = 0; k < sizes_->pieces(); ++k)
    sizes.push_back(sizes_->border(k + 1) - sizes_->border(k));
  return sizes;
}

Cut Cut::in_cells(std::int64_t rows, std::int64_t ways, std::int64_t row_cells) const {
  if (row_cells == 1) return *this;
  if (kind_ == Kind::explicit_sizes) {
    auto sizes = sizes_listed();
    for (auto& size : sizes) size *= row_cells;
    return explicit_sizes(std::move(sizes));
  }
  if (kind_ == Kind::segments) {
    auto list = segments_->list;
    for (auto& [count, cut] : list) {
      cut = cut.in_cells(count, ways, row_cells);
      count *= row_cells;
    }
    return segments(std::move(list));
  }
  // Rows that stay together; a block is never longer than the extent.
  auto const block = kind_ == Kind::ceil ? ceil_div(rows, ways) : std::min(unit_, rows);
  if (rows == 0 || block == 0) return *this;
  if (kind_ == Kind::cyclic) return cyclic(block * row_cells);
  bool const is_even = rows % ways == 0 && rows / ways % block == 0;
  return is_even ? balanced() : unit(block * row_cells);
}

std::optional<Cut> Cut::in_rows(std::int64_t cells, std::int64_t ways,
                                std::int64_t row_cells) const {
  if (row_cells == 1) return *this;
  if (ways == 1) return balanced();
  if (kind_ == Kind::explicit_sizes) {
    auto sizes = sizes_listed();
    for (auto& size : sizes) {
      if (size % row_cells != 0) return std::nullopt;
      size /= row_cells;
    }
    return explicit_sizes(std::move(sizes));
  }
  if (kind_ != Kind::segments) return blocks_in_rows(cells, ways, row_cells);
  auto list = segments_->list;
  for (auto& [count, cut] : list) {
    if (count % row_cells != 0) return std::nullopt;
    auto const inside = cut.in_rows(count, ways, row_cells);
    if (!inside) return std::nullopt;
    cut = *inside;
    count /= row_cells;
  }
  return segments(std::move(list));
}

// The same for a rule that lists nothing.
std::optional<Cut> Cut::blocks_in_rows(std::int64_t cells, std::int64_t ways,
                                       std::int64_t row_cells) const {
  if (cells == 0) return *this;
  auto const first = piece(cells, ways, 0).size();
  auto const rows = first / row_cells;
  if (kind_ == Kind::cyclic || kind_ == Kind::ceil) {
    if (first % row_cells != 0) return std::nullopt;
    return kind_ == Kind::ceil ? ceil() : cyclic(rows);
  }
  if (unit_ % row_cells == 0) return unit_ == row_cells ? balanced() : unit(unit_ / row_cells);
  // Otherwise all pieces except the last nonempty one must be as long as the first.
  auto const blocks = ceil_div(cells, unit_);
  auto const larger = blocks % ways;
  bool const is_alike = blocks < ways || larger == 0 || larger == ways - 1;
  if (!is_alike || first % row_cells != 0) return std::nullopt;
  return cells / ways == first && cells % ways == 0 ? balanced() : unit(rows);
}

}  // namespace tessera
