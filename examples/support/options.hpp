#pragma once
/// @file
/// What the examples can be told on their command line.

#include <cstddef>
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
  std::string png = {};  ///< the file to write; empty: none
};

/// A program, and what holds where its command line says nothing.
struct Program {
  std::string name;
  std::string description;
  Options defaults;          ///< its cells say how many dimensions there are
  std::int64_t workers = 1;  ///< the devices or processes that the mesh has to use up
  std::int64_t smallest_extent = 1;
  bool chooses_ends = true;  ///< fixed or joined; otherwise as the defaults have it
  bool writes_png = false;
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

/// So many factors of n, near to each other, the larger ones first. Example: {4, 2} for 8 and 2,
/// {2, 2, 2} for 8 and 3.
[[nodiscard]] std::vector<std::int64_t> near_square(std::int64_t n, std::size_t dimensions);

}  // namespace examples
