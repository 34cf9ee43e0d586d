#pragma once
/// @file
/// Single cells that several threads and processes touch at once.

#include <cstddef>
#include <cstdint>

#include "tessera/exchange/one_sided.hpp"

namespace tessera {

/// Copies a cell of shared memory. Cells of 1, 2, 4 and 8 bytes are copied whole, others word by
/// word. Who sees a cell that was stored sees what its writer had stored before.
/// Threads: any, also of other processes.
void load_cell(std::byte const* cell, std::int64_t bytes, std::byte* into);
void store_cell(std::byte* cell, std::int64_t bytes, std::byte const* from);

/// Changes a cell of shared memory, atomically against all others that do so; of a complex number,
/// each part for itself. `old`, of the element's size, gets what was there.
void update_cell(std::byte* cell, CellUpdate const& update, std::byte* old);

}  // namespace tessera
