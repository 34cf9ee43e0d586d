#pragma once
/// @file
/// Planes of Tessera's arrays as pictures.

#include <algorithm>
#include <cstdint>

#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/png.hpp"
#include "support/report.hpp"

namespace examples {

/// Draws an array or view of two dimensions on the terminal and into a PNG file, as the options
/// want it.
/// Ranks: collective.
template <class Plane>
void show(Plane const& u, Options const& options, Report& report) {
  auto const rows = u.extents()[0], columns = u.extents()[1];
  auto const every = [&](std::int64_t down, std::int64_t across) {
    return u(tessera::range(0, tessera::none, down), tessera::range(0, tessera::none, across));
  };
  if (options.picture) {
    auto const samples =
        every(stride_for(rows, picture_rows), stride_for(columns, picture_columns));
    report.picture(draw_field(samples.to_host(), samples.extents()[1]));
  }
  if (!options.png.empty()) {
    auto const apart = stride_for(std::max(rows, columns), png_side);
    auto const samples = every(apart, apart);
    report.file(options.png, encode_png(samples.to_host(), samples.extents()[1]));
  }
}

}  // namespace examples
