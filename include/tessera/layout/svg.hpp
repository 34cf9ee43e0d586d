#pragma once
/// @file
/// Pictures of layouts as SVG, for a browser or a paper.

#include <string>

#include "tessera/layout/layout.hpp"

namespace tessera {

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
