#pragma once
/// @file
/// Which needs share a temporary.

#include <cstddef>
#include <span>
#include <vector>

#include "src/plan/exchange/temporaries.hpp"

namespace tessera {

/// The places that a read needs, and its cells by place: several where it wraps around.
struct Item {
  std::size_t read = 0;
  Box places;
  std::vector<Cells> cells;
};

/// Puts the places of items into temporaries like `empty`, and tells the reads: first all that
/// meet, as far as their hull is not much larger, then neighbours whose hull has few holes.
///
/// Order: sorts the items.
void divide(std::span<Item> items, Temporary const& empty, Temporaries& temporaries);

}  // namespace tessera
