#pragma once
/// @file
/// What every bench does: run Tessera's version and the raw one in turn, and print the times.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "support/hash.hpp"

namespace bench {

struct Case {
  std::string label;
  int dimensions;
  std::int64_t cells;  // along each dimension, ends included
  std::int64_t steps;
  int pairs;
};

struct Pair {
  double seconds;
  double raw_seconds;
};

/// The case on the command line: LABEL DIMENSIONS CELLS STEPS PAIRS.
inline std::optional<Case> case_of(int argc, char** argv) {
  if (argc == 6)
    return Case{argv[1], std::atoi(argv[2]), std::atoll(argv[3]), std::atoll(argv[4]),
                std::atoi(argv[5])};
  if (tessera::process() == tessera::ProcessId{0})
    std::fprintf(stderr, "usage: %s LABEL DIMENSIONS CELLS STEPS PAIRS\n", argv[0]);
  return std::nullopt;
}

/// Any start will do that has no equal cells.
inline double start_at(std::int64_t i) {
  constexpr double parts = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(examples::scramble(static_cast<std::uint64_t>(i)) >> 11U) * parts;
}

/// The seconds that `run()` takes until the last process has ended it.
template <class Run>
double time_run(Run const& run) {
  tessera::synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  auto const start = std::chrono::steady_clock::now();
  run();
  tessera::synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The seconds that `steps` steps take until the last process has ended them.
template <class Step>
double time(std::int64_t steps, Step const& step) {
  return time_run([&] {
    for (std::int64_t i = 0; i < steps; ++i) step();
  });
}

/// Pairs of runs, after one of each that is not counted. Who is first changes from pair to pair.
template <class Step, class RawStep>
std::vector<Pair> time_pairs(Case const& what, Step const& step, RawStep const& raw_step) {
  std::vector<Pair> pairs;
  for (int i = 0; i <= what.pairs; ++i) {
    Pair pair{};
    if (i % 2 == 0) pair.raw_seconds = time(what.steps, raw_step);
    pair.seconds = time(what.steps, step);
    if (i % 2 != 0) pair.raw_seconds = time(what.steps, raw_step);
    if (i > 0) pairs.push_back(pair);
  }
  return pairs;
}

/// One way to run so many steps with Tessera.
struct Form {
  char const* name;
  std::function<void(std::int64_t steps)> run;
};

/// Rounds in which the raw version and each form run in turn, after one that is not counted. Who is
/// first changes from round to round. A list of pairs for each form, with the same raw times.
template <class RawStep>
std::vector<std::vector<Pair>> time_forms(Case const& what, std::vector<Form> const& forms,
                                          RawStep const& raw_step) {
  std::vector<std::vector<Pair>> result(forms.size());
  auto const runs = forms.size() + 1;
  for (int round = 0; round <= what.pairs; ++round) {
    std::vector<double> seconds(runs);
    for (std::size_t i = 0; i < runs; ++i) {
      auto const which = (i + static_cast<std::size_t>(round)) % runs;
      seconds[which] = which < forms.size() ? time_run([&] { forms[which].run(what.steps); })
                                            : time(what.steps, raw_step);
    }
    for (std::size_t form = 0; round > 0 && form < forms.size(); ++form)
      result[form].push_back({seconds[form], seconds.back()});
  }
  return result;
}

/// Prints what bench/compare.py reads, a line for each form, with `more` members if there are any;
/// returns the exit code.
inline int print(Case const& what, std::vector<Pair> const& pairs, bool is_right,
                 char const* form = "loop", std::string const& more = {}) {
  if (tessera::process() == tessera::ProcessId{0}) {
    std::printf("{\"case\": \"%s\", \"form\": \"%s\", \"processes\": %lld, \"devices\": %lld, ",
                what.label.c_str(), form, static_cast<long long>(tessera::process_count()),
                static_cast<long long>(tessera::device_count()));
    std::printf("\"steps\": %lld, ", static_cast<long long>(what.steps));
    std::printf("\"is_right\": %s, \"pairs\": [", is_right ? "true" : "false");
    for (std::size_t i = 0; i < pairs.size(); ++i)
      std::printf("%s[%.9f, %.9f]", i == 0 ? "" : ", ", pairs[i].seconds, pairs[i].raw_seconds);
    std::printf("]%s}\n", more.c_str());
  }
  return is_right ? 0 : 1;
}

}  // namespace bench
