#include "tuning.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <unistd.h>

#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

// Rough times of one core: what they have to tell apart lies a factor of several apart.
constexpr double seconds_per_read = 0.08e-9;  // of a cell in a cache, and per cell written
constexpr double seconds_per_byte = 0.1e-9;   // between memory and a core
constexpr double seconds_per_task = 40e-9;    // a statement over one tile
constexpr std::int64_t most_steps = 128;
constexpr std::int64_t most_instances = 512;    // of a block: skews take their square of time
constexpr std::int64_t least_inner_cells = 64;  // of a tile: shorter rows cost more than they save

constexpr long usual_cache_bytes = 1L << 20;  // for what all machines have to find alike

// Of this machine; the usual one where it does not tell.
std::int64_t cache_bytes() {
  auto const bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : usual_cache_bytes;
}

std::int64_t nearest_cache_bytes() {
  constexpr long usual = 1L << 15;
  auto const bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE);
  return bytes > 0 ? bytes : usual;
}

// What the model knows of a loop on the device with the most cells.
struct LoopFacts {
  Shape extents;  ///< of the device's box
  Index reach;    ///< cells that ghost cells grow by from step to step, both sides
  InlineVector<bool, max_rank> exchanges;  ///< per dimension: neighbours or images lie there
  double bytes_per_cell = 0;               ///< that a step moves
  double reads_per_cell = 0;               ///< and writes
  std::int64_t buffers_bytes = 0;          ///< of one cell in all buffers
};

LoopFacts facts_of(LoopAnalysis const& analysis, Names const& names) {
  LoopFacts facts;
  auto const& body = analysis.body;
  auto const& sharding = analysis.layout->sharding();
  auto const rank = body.shape.size();
  facts.extents = sharding.shard_shape(body.shape);
  facts.reach = Index(rank, 0);
  auto const one = schedule_block(body, 1, 1);
  auto const two = schedule_block(body, 2, 1);
  auto const wraps = body.wraps();
  for (std::size_t d = 0; d < rank; ++d) {
    facts.exchanges.push_back(wraps[d] || sharding.ways(d) > 1);
    for (std::size_t a = 0; a < body.arrays(); ++a) {
      auto const& [below, above] = two.widths[a];
      auto const grows = below[d] + above[d] - one.widths[a].below[d] - one.widths[a].above[d];
      facts.reach[d] = std::max(facts.reach[d], grows);
    }
  }
  auto const swapped = body.swapped();
  for (std::size_t a = 0; a < body.arrays(); ++a)
    facts.buffers_bytes += names.arrays[a]->element_bytes() * (swapped[a] ? 2 : 1);
  for (auto const& statement : body.statements) {
    facts.reads_per_cell += static_cast<double>(statement.reads.size()) + 1;
    std::vector<bool> read(body.arrays(), false);
    for (auto const& leaf : statement.reads) read[leaf.array] = true;
    auto const target = static_cast<double>(names.arrays[statement.array]->element_bytes());
    facts.bytes_per_cell += 2 * target;
    for (std::size_t a = 0; a < body.arrays(); ++a)
      if (read[a]) facts.bytes_per_cell += static_cast<double>(names.arrays[a]->element_bytes());
  }
  return facts;
}

double cells_of(LoopFacts const& facts) {
  double cells = 1;
  for (auto const extent : facts.extents) cells *= static_cast<double>(extent);
  return cells;
}

// Seconds of a step in blocks of `steps`. Half of what a block computes beyond its own cells is
// gone when it ends.
double predicted(LoopFacts const& facts, std::int64_t steps, double message_seconds) {
  double cells = 1;
  bool exchanges = false;
  for (std::size_t d = 0; d < facts.extents.size(); ++d) {
    auto const beyond = static_cast<double>(facts.reach[d] * (steps - 1)) / 2;
    cells *= static_cast<double>(facts.extents[d]) + (facts.exchanges[d] ? beyond : 0);
    exchanges = exchanges || (facts.exchanges[d] && facts.reach[d] > 0);
  }
  auto const in_cache = cells_of(facts) * static_cast<double>(facts.buffers_bytes) <
                        static_cast<double>(usual_cache_bytes);
  auto const moved = in_cache ? 0 : facts.bytes_per_cell * seconds_per_byte;
  auto const blocks = static_cast<double>(steps);
  // Tiles of few cells compute some cells' edges again and again, and cost their calls.
  auto const tiling = in_cache ? 1.0 : 1.0 + 0.004 * blocks;
  return cells * (facts.reads_per_cell * seconds_per_read * tiling + moved / blocks) +
         (exchanges ? message_seconds / blocks : 0) + seconds_per_task;
}

std::int64_t best_depth(LoopAnalysis const& analysis, LoopFacts const& facts,
                        double message_seconds) {
  auto const statements = std::max<std::int64_t>(std::ssize(analysis.body.statements), 1);
  std::int64_t best = 1;
  for (std::int64_t steps = 2; steps <= most_steps && steps * statements <= most_instances;
       steps *= 2) {
    bool fits = true;
    for (std::size_t d = 0; d < facts.extents.size(); ++d)
      if (facts.exchanges[d] && facts.reach[d] * steps > 2 * facts.extents[d]) fits = false;
    if (fits && predicted(facts, steps, message_seconds) < predicted(facts, best, message_seconds))
      best = steps;
  }
  return best;
}

// Whole rows of the last dimension where they fit; the others as square as they can be.
Index best_tile(LoopFacts const& facts, std::int64_t steps) {
  auto const rank = facts.extents.size();
  Index tile = facts.extents;
  for (auto& extent : tile) extent = whole_extent;
  if (cells_of(facts) * static_cast<double>(facts.buffers_bytes) <
          static_cast<double>(cache_bytes()) ||
      steps == 1)
    return tile;
  // In one dimension a tile's calls are long enough in the nearest cache, with room for what is
  // read beside it.
  auto const room = rank == 1 ? nearest_cache_bytes() / 4 * 3 : cache_bytes() / 2;
  auto const cells = std::max<std::int64_t>(room / std::max<std::int64_t>(facts.buffers_bytes, 1),
                                            least_inner_cells);
  if (rank == 1) return {cells};
  auto const inner = rank == 2 ? std::int64_t{512} : std::int64_t{256};
  tile[rank - 1] = std::min(tile[rank - 1], inner);
  auto const rows = std::max<std::int64_t>(cells / tile[rank - 1], 1);
  auto const outer = static_cast<double>(rank - 1);
  auto const side = static_cast<std::int64_t>(std::pow(static_cast<double>(rows), 1 / outer));
  for (std::size_t d = 0; d + 1 < rank; ++d)
    tile[d] = std::min(tile[d], std::max<std::int64_t>(side, 1));
  return tile;
}

std::string limit_of(LoopFacts const& facts, std::int64_t steps, double message_seconds) {
  auto const cells = cells_of(facts);
  auto const compute = cells * facts.reads_per_cell * seconds_per_read;
  bool const in_cache =
      cells * static_cast<double>(facts.buffers_bytes) < static_cast<double>(cache_bytes());
  auto const memory =
      in_cache ? 0 : cells * facts.bytes_per_cell * seconds_per_byte / static_cast<double>(steps);
  auto const latency = message_seconds / static_cast<double>(steps);
  if (latency > compute && latency > memory) return "latency";
  return memory > compute ? "memory" : "compute";
}

Shape tile_from(std::string const& value) {
  Shape tile;
  std::string_view rest(value);
  while (!rest.empty()) {
    std::int64_t extent = -1;
    auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0 || tile.size() == max_rank)
      throw ConfigError(text("TESSERA_TILE=", value,
                             " is no list of cells per dimension, as 64x256; mend or unset it"));
    tile.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.empty() && rest.front() == 'x') rest.remove_prefix(1);
  }
  return tile;
}

}  // namespace

void LoopOptions::check() const {
  bool const is_right =
      depth >= 0 && std::all_of(tile.begin(), tile.end(), [](auto extent) { return extent >= 0; });
  if (!is_right)
    throw UsageError(text("a loop cannot run in blocks of ", depth, " steps and tiles of ", tile,
                          " cells; pass 0 for what the library is to choose"));
}

LoopOptions LoopOptions::with_environment() const {
  auto result = *this;
  if (auto const steps = environment_integer("TESSERA_DEPTH", 1)) result.depth = *steps;
  if (auto const extents = environment("TESSERA_TILE")) result.tile = tile_from(*extents);
  return result;
}

BlockChoice choose_block(LoopAnalysis const& analysis, Names const& names,
                         LoopOptions const& options, double message_seconds) {
  auto const rank = analysis.body.shape.size();
  if (!environment("TESSERA_TILE") && !options.tile.empty() && options.tile.size() != rank)
    throw UsageError(text("tiles of ", counted(std::ssize(options.tile), "dimension"),
                          " do not fit the arrays of a loop, which have ", rank));
  auto const facts = facts_of(analysis, names);
  BlockChoice choice;
  auto& shape = choice.shape;
  shape.steps = options.depth > 0 ? options.depth : best_depth(analysis, facts, message_seconds);
  shape.tile = best_tile(facts, shape.steps);
  for (std::size_t d = 0; d < std::min(options.tile.size(), shape.tile.size()); ++d)
    shape.tile[d] = options.tile[d] > 0 ? options.tile[d] : whole_extent;
  // Rows whose ends lie alike in their lines are stored faster; without tiles there are no ends.
  constexpr std::int64_t cells_per_line = 8;
  shape.alignment = options.tile.empty() ? cells_per_line : 1;
  choice.step_seconds = predicted(facts, shape.steps, message_seconds);
  choice.reason = limit_of(facts, shape.steps, message_seconds);
  return choice;
}

}  // namespace tessera
