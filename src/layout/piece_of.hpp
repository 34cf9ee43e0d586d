#pragma once
/// @file
/// The pieces of a layout, for those that draw it.

#include <cstddef>
#include <cstdint>

#include "tessera/layout/layout.hpp"

namespace tessera {

/// Piece k of dimension d.
[[nodiscard]] inline Piece piece_of(Layout const& layout, std::size_t d, std::int64_t k) {
  return layout.sharding().cut(d).piece(layout.shape()[d], layout.sharding().ways(d), k);
}

}  // namespace tessera
