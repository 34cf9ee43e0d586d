#pragma once
/// @file
/// Access to single cells that several threads and processes use at once.

#include <cstddef>
#include <cstdint>

#include "src/execution/one_sided/one_sided_request.hpp"

namespace tessera {

/// Copies a cell of shared memory. Cells of 1, 2, 4 and 8 bytes are copied whole, others word by
/// word. A reader that sees a stored cell also sees everything that its writer stored before.
/// Threads: any, also of other processes.
void load_cell(std::byte const* cell, std::int64_t bytes, std::byte* into);
void store_cell(std::byte* cell, std::int64_t bytes, std::byte const* from);

/// Changes a cell of shared memory, atomically against all other such changes; for a complex
/// number, each part separately. `old`, of the element's size, receives the old value.
void update_cell(std::byte* cell, CellUpdate const& update, std::byte* old);

}  // namespace tessera
