#pragma once
/// @file
/// What the examples can be told on their command line.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace examples {

struct Options {
  std::vector<std::int64_t> cells = {};  ///< per dimension, fixed ends not counted
  std::int64_t steps = 0;
  bool periodic = false;
  std::vector<std::int64_t> mesh = {};  ///< devices or processes per dimension
  bool picture = true;
};

/// A program, and what holds where its command line says nothing.
struct Program {
  std::string name;
  std::string description;
  Options defaults;          ///< its cells say how many dimensions there are
  std::int64_t workers = 1;  ///< the devices or processes that the mesh has to use up
  std::int64_t smallest_extent = 1;
  bool may_have_ends = true;
};

/// The options, or the code with which to leave at once: 0 after --help, 2 after a mistake.
struct CommandLine {
  Options options;
  std::optional<int> leave;
};

/// Reads the command line. Help and mistakes are printed where `speaks`, on one process of the job;
/// all processes get the same answer, so they leave together.
[[nodiscard]] CommandLine parse(int argc, char const* const* argv, Program const& program,
                                bool speaks);

/// The factors of n nearest to each other, the larger one first. Example: {4, 2} for 8.
[[nodiscard]] std::vector<std::int64_t> near_square(std::int64_t n);

}  // namespace examples
