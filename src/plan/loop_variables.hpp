#pragma once
/// @file
/// What the environment says about the blocks of loops, and about the steps of operations.

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

/// True unless TESSERA_OVERLAP=0: messages may travel while a step of an operation computes.
/// Throws: ConfigError if the variable cannot be read.
[[nodiscard]] bool steps_overlap();

}  // namespace tessera
