#pragma once
/// @file
/// What the processes of the Runtime that lives find out together.

#include <cstddef>
#include <span>

#include "tessera/base/source.hpp"

#include "src/device/caches.hpp"
#include "src/execution/one_sided/host_collectives.hpp"

namespace tessera::detail {

// All are collective over the job, and throw PeerFailed, Mismatch, and UsageError as `engine()`.

/// Replaces the bytes of every process by the bitwise or of all of them. Throws: Mismatch if the
/// processes call it for different purposes.
void or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                       Collective const& collective);
/// The same for a question of the library's own: it is no access of the program to cells, and
/// listeners do not hear of it.
void or_unheard(std::span<std::byte> bytes, SourceLocation const& location,
                Collective const& collective);
/// The shortest measured time of a barrier of all processes: about the time of a message between
/// neighbours, or somewhat more. Equal on all of them; 0 in a job of one process.
[[nodiscard]] double rendezvous_seconds();
/// The least that the caches of any process are, so equal on all of them. Local after the first
/// time.
[[nodiscard]] Caches least_caches();

}  // namespace tessera::detail
