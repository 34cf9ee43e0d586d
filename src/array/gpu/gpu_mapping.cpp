#include "tessera/detail/array/gpu/gpu_mapping.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

// The least power of two that is no less than `count`, but no more than `most`, which is one too.
constexpr unsigned power_of_two_for(std::int64_t count, unsigned most) {
  unsigned power = 1;
  while (power < most && power < count) power *= 2;
  return power;
}

}  // namespace

GpuShape shape_for(std::int64_t rows, std::int64_t columns, unsigned threads) {
  constexpr unsigned warp = 32;  // threads that load together
  constexpr std::int64_t most_x = 0x7fff'ffff;
  constexpr std::int64_t most_y = 65535;
  auto const blocks = [](std::int64_t count, std::int64_t each, std::int64_t most) {
    return static_cast<unsigned>(std::clamp<std::int64_t>((count + each - 1) / each, 1, most));
  };
  GpuShape shape;
  shape.threads_x =
      std::max(power_of_two_for((columns + cells_in_flight - 1) / cells_in_flight, threads),
               power_of_two_for(columns, std::min(warp, threads)));
  shape.threads_y = threads / shape.threads_x;
  shape.blocks_x = blocks(columns, shape.threads_x * cells_in_flight, most_x);
  shape.blocks_y = blocks(rows, shape.threads_y, most_y);
  return shape;
}

GpuShape shape_for(std::int64_t rows, std::int64_t columns, unsigned threads, std::int64_t most) {
  auto shape = shape_for(rows, columns, threads);
  auto const limited = [](unsigned blocks, std::int64_t limit) {
    return static_cast<unsigned>(std::clamp<std::int64_t>(limit, 1, blocks));
  };
  shape.blocks_x = limited(shape.blocks_x, most);
  shape.blocks_y = limited(shape.blocks_y, most / shape.blocks_x);
  return shape;
}

FoldSplit split_for(FoldExtents const& extents, unsigned threads, std::int64_t busy) {
  constexpr unsigned warp_bits = 5;
  constexpr std::int64_t least_terms = 4;
  FoldSplit split;
  if (extents.row_terms >= std::int64_t{1} << warp_bits) split.along_bits = warp_bits;
  auto const together = extents.row_terms == 1 ? power_of_two_for(extents.cells, 8) : 1;
  while (split.threads() * together < threads && extents.cells < busy >> split.steps()) {
    auto const terms = extents.rows * extents.row_terms;
    if (extents.row_terms >= 2 * least_terms << split.along_bits)
      ++split.along_bits;
    else if (terms >= 2 * least_terms << split.steps() && extents.rows >= 2 << split.rows_bits)
      ++split.rows_bits;
    else
      break;
  }
  while (split.threads() < threads) ++split.cells_bits;
  return split;
}

FoldSplit split_in_order(unsigned threads) {
  FoldSplit split;
  while (split.threads() < threads) ++split.cells_bits;
  return split;
}

}  // namespace tessera::detail
