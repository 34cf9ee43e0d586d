#pragma once
/// @file
/// How a loop may be run.

#include <cstdint>
#include <optional>

#include "tessera/index/index.hpp"

namespace tessera {

/// What a caller knows better than the library; what is zero, empty or unset is left to it. The
/// environment decides where it speaks: TESSERA_DEPTH, TESSERA_TILE, TESSERA_OVERLAP and
/// TESSERA_GRAPHS.
struct LoopOptions {
  /// Steps between two exchanges: each device computes some of its neighbours' cells along with its
  /// own in their place. 1: as the plain loop, a message per neighbour and step.
  std::int64_t depth = 0;
  /// Cells of a tile along each dimension, through which all steps of a block run before the next
  /// one; 0: as many as there are.
  Shape tile = {};
  /// Whether a device computes what needs none of its neighbours' cells while they travel. That
  /// takes more, smaller tasks; unset, it is done where a message takes longer than 20 us. Messages
  /// longer than two slots (TESSERA_SLOT_BYTES) are waited for all the same.
  std::optional<bool> overlap = {};
  /// Whether a device that is a GPU keeps the launches of a block, or of some, as a graph, where
  /// that pays: then it is brought them in one go.
  bool graphs = true;

  /// Throws: UsageError if a number is negative.
  void check() const;
  /// These options, where the environment does not say otherwise.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] LoopOptions with_environment() const;
};

}  // namespace tessera
