#pragma once
/// @file
/// What is measured: how long bytes take between two processes.

#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/ids.hpp"

namespace info {

/// One way for bytes between this process and one other. Both call the same functions in the same
/// order; `leads` is true on one of them.
class Wire {
 public:
  virtual ~Wire() = default;
  Wire(Wire const&) = delete;
  Wire& operator=(Wire const&) = delete;

  /// 8 bytes to the other process and back; returns what the leader passed.
  virtual std::int64_t round_trip(std::int64_t value) = 0;
  /// `stream_bytes` from the leader to the other process, and 8 bytes back.
  virtual void stream() = 0;

  static constexpr std::int64_t stream_bytes = 1024 * 1024;

 protected:
  Wire() = default;
};

/// MPI_Send and MPI_Recv on MPI_COMM_WORLD. None where MPI is not in the build.
[[nodiscard]] std::unique_ptr<Wire> make_mpi_wire(tessera::ProcessId peer, bool leads);
/// What MPI says of itself: "Open MPI v4.1.4"; "" where it is not in the build.
[[nodiscard]] std::string mpi_description();

struct Timing {
  double round_trip_us = 0;
  double gigabytes_per_second = 0;
};

/// The medians of five samples each, about a tenth of a second together. The leader's count.
[[nodiscard]] Timing measure(Wire& wire, bool leads);

}  // namespace info
