#include "src/plan/block_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tessera {
namespace {

// Rough times of one core: the alternatives differ by a factor of several. The times of bytes are
// only the part that does not overlap with computing, since cores prefetch.
constexpr double seconds_per_read = 0.04e-9;         // of a cell in a cache, and per cell written
constexpr double seconds_per_byte = 0.02e-9;         // from memory, and back
constexpr double seconds_per_byte_again = 0.005e-9;  // from a cache behind the second
constexpr double seconds_per_near_byte = 0.001e-9;   // between the first two caches
constexpr double seconds_per_block = 4e-6;
constexpr double seconds_per_task = 40e-9;  // a statement over one tile
constexpr double worthwhile = 0.98;         // of the time, or blocks are not made deeper

constexpr std::int64_t most_steps = 128;
constexpr std::int64_t most_instances = 512;         // of a block: skews take their square of time
constexpr std::int64_t most_asked_instances = 4096;  // the same where the caller chooses the depth
constexpr std::int64_t least_inner_cells = 64;  // of a tile: shorter rows cost more than they save
constexpr std::int64_t least_side = 4;          // of a tile in the other dimensions
constexpr std::int64_t least_cut_row =
    1024;  // of a plane: shorter ones were slower than whole rows

std::int64_t rounded_down(std::int64_t value, std::int64_t unit) {
  return value / unit * unit;
}

// The largest power of two whose `count`th power is at most `volume`.
std::int64_t side_of(std::int64_t volume, std::size_t count) {
  auto const side = std::pow(static_cast<double>(std::max<std::int64_t>(volume, 1)),
                             1.0 / static_cast<double>(count));
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(side * (1 + 1e-9))));
}

}  // namespace

double BlockModel::cells() const {
  double cells = 1;
  for (auto const extent : loop_.extents) cells *= static_cast<double>(extent);
  return cells;
}

double BlockModel::bytes() const {
  return cells() * static_cast<double>(loop_.buffers_bytes);
}

// The factor by which a tile touches more cells than its own in a block, because it moves from step
// to step.
double BlockModel::overlap(std::int64_t steps, Index const& tile) const {
  double times = 1;
  for (std::size_t d = 0; d < tile.size(); ++d) {
    if (tile[d] >= loop_.extents[d]) continue;
    // Along a long row, the second cache still holds the cells that the previous tile left.
    if (d + 1 == tile.size() && tile[d] >= least_cut_row) continue;
    auto const moves = d + 1 == tile.size() ? cells_per_line : (loop_.reach[d] + 1) / 2;
    times *= 1 + static_cast<double>(moves * steps) / static_cast<double>(tile[d]);
  }
  return times - 1;
}

// The seconds for a byte that a step moves, in blocks of `steps` steps.
double BlockModel::seconds_per_moved_byte(std::int64_t steps, Index const& tile) const {
  auto const blocks = static_cast<double>(steps);
  if (bytes() > static_cast<double>(machine_.caches.second))
    return (seconds_per_byte + overlap(steps, tile) * seconds_per_byte_again) / blocks;
  // Tiles are made for the first cache only in one dimension.
  bool const is_near = bytes() <= static_cast<double>(machine_.caches.nearest);
  return is_near || loop_.extents.size() > 1 ? 0 : seconds_per_near_byte / blocks;
}

BlockModel::Parts BlockModel::parts_of(std::int64_t steps, Index const& tile) const {
  // The redundant region shrinks to nothing over the block, so half of it counts.
  double computed = 1;
  bool exchanges = false;
  for (std::size_t d = 0; d < loop_.extents.size(); ++d) {
    auto const beyond = static_cast<double>(loop_.reach[d] * loop_.sides[d] * (steps - 1)) / 4;
    computed *= static_cast<double>(loop_.extents[d]) + beyond;
    exchanges = exchanges || (loop_.sides[d] > 0 && loop_.reach[d] > 0);
  }
  auto const blocks = static_cast<double>(steps);
  return {
      .compute = computed * loop_.reads_per_cell * seconds_per_read,
      .memory = computed * loop_.bytes_per_cell * seconds_per_moved_byte(steps, tile),
      .messages = (exchanges ? machine_.message_seconds : 0) / blocks + seconds_per_block / blocks};
}

double BlockModel::step_seconds(std::int64_t steps, Index const& tile) const {
  auto const [compute, memory, messages] = parts_of(steps, tile);
  return compute + memory + messages + seconds_per_task;
}

std::string BlockModel::bottleneck(std::int64_t steps, Index const& tile) const {
  auto const [compute, memory, messages] = parts_of(steps, tile);
  if (messages > compute && messages > memory) return "latency";
  return memory > compute ? "memory" : "compute";
}

std::int64_t BlockModel::best_depth() const {
  std::int64_t best = 1;
  auto best_seconds = step_seconds(1, best_tile(1));
  for (std::int64_t steps = 2; steps <= most_steps && steps * loop_.statements <= most_instances;
       steps *= 2) {
    bool fits = true;
    for (std::size_t d = 0; d < loop_.extents.size(); ++d)
      if (loop_.sides[d] > 0 && loop_.reach[d] * steps > 2 * loop_.extents[d]) fits = false;
    auto const seconds = step_seconds(steps, best_tile(steps));
    if (!fits || seconds >= worthwhile * best_seconds) continue;
    best = steps;
    best_seconds = seconds;
  }
  return best;
}

std::int64_t BlockModel::most_depth() const {
  return std::max<std::int64_t>(most_asked_instances / loop_.statements, 1);
}

// The longest row of a tile of `volume` cells. In a plane, rows are short enough that the nearest
// cache holds a few of them, so that neighbours are read from there; unless the plane has too few
// rows for such a tile.
std::int64_t BlockModel::longest_row(std::int64_t volume) const {
  if (loop_.extents.size() != 2) return whole_extent;
  auto const cells = machine_.caches.nearest / 2 / std::max<std::int64_t>(loop_.buffers_bytes, 1);
  auto const row = side_of(cells, 1);
  return row < least_cut_row || volume / row > loop_.extents[0] ? whole_extent : row;
}

// Whole rows of the last dimension if enough of them fit; the other sides are powers of two, as
// equal as possible, the longest first.
Index BlockModel::best_tile(std::int64_t steps) const {
  auto const rank = loop_.extents.size();
  Index tile(rank, whole_extent);
  auto const& caches = machine_.caches;
  auto const cache = rank == 1 ? caches.nearest : caches.second;
  bool const is_single_pass = steps == 1 && !loop_.shares_cells;
  if (is_single_pass || bytes() <= static_cast<double>(cache)) return tile;
  // In one dimension, tiles that fit the nearest cache have long enough calls. In three, edges
  // matter more than the cells read beside the tile.
  auto const room = rank == 2 ? cache / 2 : cache / 4 * 3;
  auto const volume = room / std::max<std::int64_t>(loop_.buffers_bytes, 1);
  std::int64_t least_rows = 1;
  for (std::size_t d = 0; d + 1 < rank; ++d) least_rows *= std::min(least_side, loop_.extents[d]);
  auto inner = std::max(rounded_down(volume / least_rows, cells_per_line), least_inner_cells);
  inner = std::min(inner, longest_row(volume));
  if (inner >= loop_.extents[rank - 1])
    inner = loop_.extents[rank - 1];
  else
    tile[rank - 1] = inner;
  auto rows = volume / inner;
  for (auto d = rank - 1; d-- > 0;) {
    tile[d] = d == 0 ? std::max<std::int64_t>(rows, 1) : side_of(rows, d + 1);
    tile[d] = std::min(tile[d], loop_.extents[d]);
    rows /= tile[d];
  }
  for (std::size_t d = 0; d < rank; ++d)
    if (tile[d] >= loop_.extents[d]) tile[d] = whole_extent;
  return tile;
}

}  // namespace tessera
