#include "src/statement/padded_shard_layout.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {
namespace {

// Elements per cache line; 1 where elements do not fill lines evenly, so that rows begin anywhere.
std::int64_t elements_per_line(std::int64_t element_bytes) {
  return line_bytes % element_bytes == 0 ? line_bytes / element_bytes : 1;
}

// a * b for sizes in elements of a shard.
// Throws: DeviceError where the bytes would not fit 62 bits.
std::int64_t checked_product(std::int64_t a, std::int64_t b, std::int64_t element_bytes) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (b != 0 && a > most / b / element_bytes)
    throw DeviceError(text("a shard of ", a, " times ", b, " elements of ", element_bytes,
                           " bytes does not fit any memory; cut the array over more devices"));
  return a * b;
}

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

// As many elements, or a few more so that the next row begins a cache line, where that takes at
// most a quarter of the memory.
std::int64_t filling_lines(std::int64_t elements, std::int64_t per_line) {
  constexpr std::int64_t least_lines = 4;
  return elements < least_lines * per_line ? elements : rounded_up(elements, per_line);
}

// As many elements, or a few more where rows and planes would lie whole pages apart: the lines of
// such a column share one place of the nearest cache, which holds about eight.
std::int64_t not_whole_pages(std::int64_t elements, std::int64_t element_bytes) {
  constexpr std::int64_t page_bytes = 4096;
  bool const is_padded =
      elements * element_bytes % page_bytes == 0 && element_bytes % page_bytes != 0;
  return is_padded ? elements + elements_per_line(element_bytes) : elements;
}

// The cells row by row; long rows are multiples of `unit` elements.
PaddedShardLayout row_by_row(Box const& cells, std::int64_t unit, std::int64_t element_bytes) {
  auto const rank = cells.rank();
  PaddedShardLayout layout{cells, Index(rank, 1), 0, 0};
  if (cells.empty()) return layout;
  auto stride =
      rank == 0 ? std::int64_t{1} : checked_product(cells.extent(rank - 1), 1, element_bytes);
  for (std::size_t d = rank; d-- > 1;) {
    stride = not_whole_pages(filling_lines(stride, unit), element_bytes);
    layout.strides[d - 1] = stride;
    stride = checked_product(stride, cells.extent(d - 1), element_bytes);
  }
  layout.elements = stride;
  return layout;
}

}  // namespace

PaddedShardLayout PaddedShardLayout::around(Box const& own, GhostWidths const& widths,
                                            std::int64_t element_bytes) {
  auto const line = elements_per_line(element_bytes);
  auto layout = row_by_row(grown(own, widths.below, widths.above), line, element_bytes);
  bool const has_short_rows = own.rank() > 1 && layout.strides[own.rank() - 2] % line != 0;
  if (layout.cells.empty() || own.rank() == 0 || has_short_rows) return layout;
  layout.lead = floor_mod(-widths.below.back(), line);
  layout.elements += layout.lead;
  return layout;
}

PaddedShardLayout PaddedShardLayout::dense(Box const& cells, std::int64_t element_bytes) {
  return row_by_row(cells, 1, element_bytes);
}

std::int64_t PaddedShardLayout::offset_of(Index const& cell) const {
  auto offset = lead;
  for (std::size_t d = 0; d < cell.size(); ++d) offset += (cell[d] - cells.lo[d]) * strides[d];
  return offset;
}

StridedBlock PaddedShardLayout::block_of(Box const& box, std::int64_t element_bytes) const {
  auto block = strided_block(box, cells.lo, strides, element_bytes);
  block.offset_bytes += lead * element_bytes;
  return block;
}

}  // namespace tessera
