#pragma once
/// @file
/// What benches of stencils share: a loop of statements in several forms beside a raw version, and
/// the memory traffic that it is measured by.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "support/hash.hpp"

#include "pairs.hpp"
#include "stream.hpp"

namespace bench {

template <std::size_t N>
using Field = tessera::DistArray<double, N>;

using examples::hash_of_cell;

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

/// For the end of an object.
[[nodiscard]] inline std::string hashes_as_json(std::vector<std::uint64_t> const& hashes) {
  std::string list;
  for (auto const hash : hashes) list += (list.empty() ? "" : ", ") + std::to_string(hash);
  return ", \"hashes\": [" + list + ']';
}

/// The hash of so many cells that lie one behind the other.
[[nodiscard]] inline std::uint64_t hash_of(double const* cells, std::int64_t count) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < count; ++i) hash += hash_of_cell(i, cells[i]);
  return hash;
}

/// Times a plain loop on one core, in as many runs as the other forms have, and prints an object.
/// hashes() are those of its fields.
template <class Loop, class Hashes>
int time_one_core(Case const& what, Loop& loop, Hashes const& hashes) {
  std::vector<double> seconds;
  for (int round = 0; round <= what.pairs; ++round) {
    auto const start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < what.steps; ++i) loop.step();
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - start;
    if (round > 0) seconds.push_back(taken.count());
  }
  std::printf("{\"case\": \"%s\", \"one_core\": [", what.label.c_str());
  for (std::size_t i = 0; i < seconds.size(); ++i)
    std::printf("%s%.9f", i == 0 ? "" : ", ", seconds[i]);
  std::printf("]%s}\n", hashes_as_json(hashes()).c_str());
  return 0;
}

/// A second raw version, with a loop for each statement; none if it is empty.
struct InLoops {
  std::function<void()> step_in_loops;
  std::function<std::vector<std::uint64_t>()> hashes_in_loops;
};

/// Prints each form's pairs with the second raw version, whose times are the last ones. Returns the
/// exit code.
inline int print_in_loops(Case const& what, std::vector<std::vector<Pair>> const& times,
                          bool is_right) {
  int result = 0;
  for (std::size_t form = 0; form < 2; ++form) {
    auto pairs = times[form];
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].raw_seconds = times[2][i].seconds;
    result += print(what, pairs, is_right, form == 0 ? "plain/loops" : "iterate/loops");
  }
  return result;
}

/// A copy of `start` for the plain loop and one for the recorded one, beside the raw version.
///
/// State is copied, has step() and hashes(), one for each of its fields; raw.step() and
/// State::hashes_of(raw) are the same for the raw version. `bytes` are those that a step has to
/// move, if each field that it reads or writes goes through memory once. Returns the exit code.
template <class State, class Raw>
int compare(Case const& what, State const& start, Raw& raw, std::int64_t bytes,
            InLoops const& second = {}) {
  auto plain = start, recorded = start;
  auto program = tessera::record([&] { recorded.step(); });
  auto const repeat = [](auto const& step) {
    return [&](std::int64_t steps) {
      for (std::int64_t i = 0; i < steps; ++i) step();
    };
  };
  auto const plain_step = [&] { plain.step(); };
  std::vector<Form> forms{{"plain", repeat(plain_step)},
                          {"iterate", [&](std::int64_t steps) { program.run(steps); }}};
  if (second.step_in_loops) forms.push_back({"loops", repeat(second.step_in_loops)});
  auto const times = time_forms(what, forms, [&] { raw.step(); });
  auto const wanted = State::hashes_of(raw);
  auto const more = ", \"bytes\": " + std::to_string(what.steps * bytes) + hashes_as_json(wanted);
  auto const plain_is_wrong = print(what, times[0], plain.hashes() == wanted, "plain", more);
  auto const iterate_is_wrong = print(what, times[1], recorded.hashes() == wanted, "iterate", more);
  auto const wrong = plain_is_wrong + iterate_is_wrong;
  if (!second.step_in_loops) return wrong;
  return wrong + print_in_loops(what, times, second.hashes_in_loops() == wanted);
}

/// Prints the machine's stream figure where the command line is that word. Else runs the case:
/// behind the word one_core by a plain loop, for a job of one process.
template <class Run, class RunOneCore>
int run_case_or_stream(int argc, char** argv, Run const& run, RunOneCore const& run_one_core) {
  tessera::Runtime runtime(argc, argv);
  std::string_view const word = argc > 1 ? argv[1] : "";
  if (argc == 2 && word == "stream") {
    print_stream();
    return 0;
  }
  bool const is_on_one_core = word == "one_core";
  auto const what = is_on_one_core ? case_of(argc - 1, argv + 1) : case_of(argc, argv);
  if (!what) return 2;
  return is_on_one_core ? run_one_core(*what) : run(*what);
}

}  // namespace bench
