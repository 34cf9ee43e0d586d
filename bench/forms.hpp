#pragma once
/// @file
/// What benches of stencils share: a loop of statements in several forms beside a raw version, and
/// the memory traffic that it is measured by.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "tessera/base/hash.hpp"

#include "pairs.hpp"
#include "stream.hpp"

namespace bench {

template <std::size_t N>
using Field = tessera::DistArray<double, N>;

/// What tessera::hash adds up for a cell, by its row-major number.
[[nodiscard]] inline std::uint64_t hash_of_cell(std::int64_t cell, double value) {
  return tessera::mix(static_cast<std::uint64_t>(cell), tessera::bits_of(value));
}

/// The hashes of a raw version's fields: visit(f) calls f(field, cell, value) for the cells of this
/// process.
template <class Visit>
[[nodiscard]] std::vector<std::uint64_t> raw_hashes(std::size_t fields, Visit const& visit) {
  std::vector<std::uint64_t> hashes(fields);
  visit([&](std::size_t field, std::int64_t cell, double value) {
    hashes[field] += hash_of_cell(cell, value);
  });
  MPI_Allreduce(MPI_IN_PLACE, hashes.data(), static_cast<int>(fields), MPI_UINT64_T, MPI_SUM,
                MPI_COMM_WORLD);
  return hashes;
}

/// A copy of `start` for the plain loop and one for the recorded one, beside the raw version.
///
/// State is copied, has step() and hashes(), one for each of its fields; raw.step() and
/// State::hashes_of(raw) are the same for the raw version. `bytes` are those that a step has to
/// move, if each field that it reads or writes goes through memory once. Returns the exit code.
template <class State, class Raw>
int compare(Case const& what, State const& start, Raw& raw, std::int64_t bytes) {
  auto plain = start, recorded = start;
  auto program = tessera::record([&] { recorded.step(); });
  auto const times = time_forms(what,
                                {{"plain",
                                  [&](std::int64_t steps) {
                                    for (std::int64_t i = 0; i < steps; ++i) plain.step();
                                  }},
                                 {"iterate", [&](std::int64_t steps) { program.run(steps); }}},
                                [&] { raw.step(); });
  auto const wanted = State::hashes_of(raw);
  auto const more = ", \"bytes\": " + std::to_string(what.steps * bytes);
  auto const plain_is_wrong = print(what, times[0], plain.hashes() == wanted, "plain", more);
  auto const iterate_is_wrong = print(what, times[1], recorded.hashes() == wanted, "iterate", more);
  return plain_is_wrong + iterate_is_wrong;
}

/// Prints the machine's stream figure where the command line is that word, else runs the case.
template <class Run>
int run_case_or_stream(int argc, char** argv, Run const& run) {
  tessera::Runtime runtime(argc, argv);
  if (argc == 2 && std::string_view(argv[1]) == "stream") {
    print_stream();
    return 0;
  }
  auto const what = case_of(argc, argv);
  return what ? run(*what) : 2;
}

}  // namespace bench
