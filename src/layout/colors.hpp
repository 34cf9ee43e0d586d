#pragma once
/// @file
/// What the environment says about the colours of `visualize`.

#include <optional>

namespace tessera {

/// TESSERA_COLOR: whether there are colours; nothing if it is unset.
/// Throws: ConfigError if it cannot be read.
[[nodiscard]] std::optional<bool> colors_asked_for();

}  // namespace tessera
