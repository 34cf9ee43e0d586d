#pragma once
/// @file
/// Between processes, by UCX.

#include <memory>
#include <string>

#include "src/job/bootstrap.hpp"
#include "src/job/job_secret.hpp"
#include "src/transport/channel/transport.hpp"
#include "src/transport/protocol/refused.hpp"

namespace tessera {

/// Returns what it can do; null if it is not in this build.
[[nodiscard]] TransportTraits const* ucx_transport_traits();
/// Returns null if it is not in this build, or the job has one process. UCX itself is loaded with
/// the first channel. Messages are signed; one that is not ends the connection and is counted in
/// `refused`, which outlives the transport.
[[nodiscard]] std::unique_ptr<Transport> make_ucx_transport(Bootstrap& bootstrap,
                                                            JobSecret const& secret,
                                                            Refused& refused);
/// Loads UCX and returns the reason why it cannot be used; empty if it can.
[[nodiscard]] std::string reason_without_ucx();

}  // namespace tessera
