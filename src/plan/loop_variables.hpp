#pragma once
/// @file
/// What the environment says about the blocks of loops.

#include <cstdint>
#include <optional>

#include "tessera/index/index.hpp"

namespace tessera {

/// The variables; those that are unset have no value.
struct LoopVariables {
  std::optional<std::int64_t> depth;  ///< TESSERA_DEPTH
  std::optional<Shape> tile;          ///< TESSERA_TILE
  std::optional<bool> overlap;        ///< TESSERA_OVERLAP
  std::optional<bool> graphs;         ///< TESSERA_GRAPHS

  /// Throws: ConfigError, naming the variable, if one cannot be read.
  [[nodiscard]] static LoopVariables from_environment();
};

}  // namespace tessera
