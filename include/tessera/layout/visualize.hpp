#pragma once
/// @file
/// Pictures of layouts for a terminal.

#include <cstdint>
#include <string>

#include "tessera/layout/layout.hpp"

namespace tessera {

/// Whether a picture has colours, as terminals understand them.
///
/// `automatic`: as TESSERA_COLOR says (always, never); else not where NO_COLOR is set; else where
/// the standard output is a terminal. Source: https://no-color.org
enum class Color : std::uint8_t { automatic, always, never };

/// Who owns what, in ASCII: one dimension as a bar of pieces, two as a grid, each piece with
/// the devices that hold it and its bounds; any other rank as a line per device. Devices without
/// cells are counted below. Of a long layout the first and the last pieces are shown. With colours,
/// each piece has that of the first device that holds it.
///
/// Throws:  ConfigError if TESSERA_COLOR cannot be read.
/// Example: 5 cells on 2 devices:
///     Layout((5,), NamedSharding(Mesh(x=2), P("x")))
///     0     3   5
///     |  0  | 1 |
[[nodiscard]] std::string visualize(Layout const& layout, Color color = Color::automatic);

}  // namespace tessera
