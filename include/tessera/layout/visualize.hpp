#pragma once
/// @file
/// Pictures of layouts for a terminal.

#include <string>

#include "tessera/layout/layout.hpp"

namespace tessera {

/// Who owns what, in plain ASCII: one dimension as a bar of pieces, two as a grid, each piece with
/// the devices that hold it and its bounds; any other rank as a line per device. Devices without
/// cells are counted below. Of a long layout the first and the last pieces are shown.
///
/// Example: 5 cells on 2 devices:
///     Layout((5,), NamedSharding(Mesh(x=2), P("x")))
///     0     3   5
///     |  0  | 1 |
[[nodiscard]] std::string visualize(Layout const& layout);

}  // namespace tessera
