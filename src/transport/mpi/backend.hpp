#pragma once
/// @file
/// Between the processes that MPI has started.

#include <memory>

#include "src/job/bootstrap.hpp"
#include "src/transport/channel/transport.hpp"

namespace tessera {

/// What it can do; null if it is not in this build.
[[nodiscard]] TransportTraits const* mpi_transport_traits();
/// None if it is not in this build, or MPI is not what started the job. Ranks: a collective over
/// the job.
[[nodiscard]] std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap);

}  // namespace tessera
