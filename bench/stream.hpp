#pragma once
/// @file
/// How fast the processes of a job can read and write memory all at once.

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "pairs.hpp"
#include "raw/aligned.hpp"
#include "raw/streaming.hpp"

namespace bench {

/// a[i] = b[i] + s * c[i]
struct Triad {
  double s;
  double const* b;
  double const* c;

  template <class Load>
  auto operator()(Load load, std::int64_t i) const {
    return load(b + i) + s * load(c + i);
  }
};

/// Bytes a second of a triad on all processes at once, stored past the caches, the best of some.
/// Source: STREAM (McCalpin, 1995).
[[nodiscard]] inline double measure_stream() {
  constexpr std::int64_t cells = std::int64_t{8} << 20;  // 64 MiB in each of three arrays
  constexpr int runs = 20;
  auto const a = raw::make_doubles(cells), b = raw::make_doubles(cells),
             c = raw::make_doubles(cells);
  Triad const triad{3.0, b.get(), c.get()};
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    auto seconds = time_run([&] {
      raw::stream({a.get(), 0, 0, cells}, raw::Together{triad});
      raw::end_streaming();
    });
    // A process may have left the barrier late: the others were at work already.
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    best = std::max(best, 3 * sizeof(double) * static_cast<double>(cells) / seconds);
  }
  return best * static_cast<double>(tessera::process_count());
}

/// What bench/compare.py reads.
inline void print_stream() {
  auto const bytes_per_second = measure_stream();
  if (tessera::process() == tessera::ProcessId{0})
    std::printf("{\"stream\": %.0f}\n", bytes_per_second);
}

}  // namespace bench
