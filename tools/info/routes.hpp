#pragma once
/// @file
/// Which way bytes go between devices, found by opening one channel of each kind, and how fast.

#include <optional>
#include <string>
#include <vector>

#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"

#include "wire.hpp"

namespace info {

/// What is timed between two processes: a route of Tessera's, or plain MPI.
struct MeasuredRoute {
  std::string name;
  Timing timing;
};

/// A kind of pair of devices. Not every pair: they are told apart by where their processes are.
struct PairKind {
  std::string name;   ///< "same host"
  std::string route;  ///< the way of bytes; "none" where the job has no such pair
  std::string why;
  std::vector<MeasuredRoute> measured;
};

struct Routes {
  std::vector<PairKind> kinds;  ///< whole on process 0 only
  bool shares_cores = false;    ///< threads of process 0's host have to take turns
};

/// Ranks: collective over the job.
[[nodiscard]] Routes find_routes(tessera::Bootstrap& bootstrap, tessera::Job const& job,
                                 bool measures);

}  // namespace info
