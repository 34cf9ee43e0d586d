#pragma once
/// @file
/// Options for running a loop.

#include <cstdint>
#include <optional>

#include "tessera/index/index.hpp"

namespace tessera {

/// Options that override the library's choices. The library chooses every value that is zero, empty
/// or unset. Environment variables take precedence: TESSERA_DEPTH, TESSERA_TILE, TESSERA_OVERLAP
/// and TESSERA_GRAPHS.
struct LoopOptions {
  /// Steps between two exchanges: in place of exchanges, each device also computes some of its
  /// neighbours' cells. 1: as the plain loop, a message per neighbour and step.
  std::int64_t depth = 0;
  /// Cells of a tile along each dimension; all steps of a block run over one tile before the next.
  /// 0: the whole extent.
  Shape tile = {};
  /// Whether a device computes cells that need none of its neighbours' cells while those travel.
  /// That needs more and smaller tasks. Default: if a message takes longer than 20 us. Messages
  /// longer than two slots (TESSERA_SLOT_BYTES) are always awaited first.
  std::optional<bool> overlap = {};
  /// Whether a GPU keeps the launches of one or several blocks as a graph where that pays, so that
  /// the host submits them with one launch.
  bool graphs = true;

  /// Throws: UsageError if a number is negative.
  void check() const;
  /// These options, overridden by the environment.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] LoopOptions with_environment() const;
};

}  // namespace tessera
