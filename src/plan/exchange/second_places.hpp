#pragma once
/// @file
/// Cells that a device needs in several places come once.

#include "src/plan/exchange/temporaries.hpp"

namespace tessera {

/// Takes cells out of the needs of temporaries that another need of the same array has as well, and
/// adds them to the second places: periodic images, and cells in two temporaries.
void find_second_places(Temporaries& temporaries);

}  // namespace tessera
