#pragma once
/// @file
/// A cost model of a loop's step by the depth and the tiles of its blocks, and the best choice.

#include <cstdint>
#include <string>

#include "tessera/plan/caches.hpp"

#include "src/index/index.hpp"

namespace tessera {

/// The extent of a tile that covers a whole dimension.
inline constexpr std::int64_t whole_extent = std::int64_t{1} << 40;
inline constexpr std::int64_t cells_per_line = 8;

/// The model's facts about a loop, for the device with the most cells.
struct LoopFacts {
  Shape extents;                   ///< of the device's box
  Index reach;                     ///< cells that ghost cells grow by from step to step, both sides
  Index sides;                     ///< per dimension: on how many neighbours or images lie
  std::int64_t statements = 1;     ///< of a step
  bool shares_cells = false;       ///< tiles serve even one step, whose statements share cells
  double bytes_per_cell = 0;       ///< that a step moves
  double reads_per_cell = 0;       ///< and writes
  std::int64_t buffers_bytes = 0;  ///< of one cell in all buffers
};

/// The model's facts about the machine; equal on all processes.
struct MachineFacts {
  Caches caches;
  double message_seconds = 0;  ///< an exchange between neighbours, however little is sent
};

/// Ranks: pure.
class BlockModel {
 public:
  BlockModel(LoopFacts const& loop, MachineFacts const& machine) : loop_(loop), machine_(machine) {}

  /// Returns the steps of a block, with the best tiles for them.
  [[nodiscard]] std::int64_t best_depth() const;
  /// Returns the most steps that a block may have if the caller asks for many.
  [[nodiscard]] std::int64_t most_depth() const;
  /// Returns the cells of a tile in blocks of `steps` steps; whole_extent if one tile covers the
  /// dimension.
  [[nodiscard]] Index best_tile(std::int64_t steps) const;
  /// Returns the time of a step.
  [[nodiscard]] double step_seconds(std::int64_t steps, Index const& tile) const;
  /// Names the part that takes most of the time, for people.
  [[nodiscard]] std::string bottleneck(std::int64_t steps, Index const& tile) const;

 private:
  struct Parts {
    double compute, memory, messages;  // seconds of a step; the last with what a block itself takes
  };
  [[nodiscard]] std::int64_t longest_row(std::int64_t volume) const;
  [[nodiscard]] double cells() const;
  [[nodiscard]] double bytes() const;  // in all buffers
  [[nodiscard]] double overlap(std::int64_t steps, Index const& tile) const;
  [[nodiscard]] double seconds_per_moved_byte(std::int64_t steps, Index const& tile) const;
  [[nodiscard]] Parts parts_of(std::int64_t steps, Index const& tile) const;

  LoopFacts loop_;
  MachineFacts machine_;
};

}  // namespace tessera
