#pragma once
/// @file
/// Pictures of layouts: for a terminal, and as SVG for a browser or a paper.

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

/// Who owns what, as the text of an SVG picture: a rectangle for each box that has cells, as large
/// as its share of them, in the colour of the first device that holds it, with the numbers of its
/// devices; its bounds show under the pointer.
///
/// Shapes:  1 to 3 dimensions. Of three, the pieces of dimension 0 are slabs beside each other.
/// Ranks:   pure.
/// Throws:  ShapeError for other numbers of dimensions; UsageError for more than 65536 boxes.
[[nodiscard]] std::string visualize_svg(Layout const& layout);

/// Writes that picture to a file, over what is there.
/// Ranks:   local: every process that calls it writes.
/// Throws:  as above; Error if the file cannot be written.
void save_svg(std::string const& path, Layout const& layout);

}  // namespace tessera
