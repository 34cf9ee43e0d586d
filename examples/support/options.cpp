#include "support/options.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

namespace examples {
namespace {

constexpr int usage_exit_code = 2;

// "2x4" is two numbers.
std::vector<std::int64_t> mesh_from(std::string const& text, std::size_t dimensions) {
  std::istringstream in(text);
  std::vector<std::int64_t> mesh(dimensions);
  bool read = true;
  for (std::size_t d = 0; d < dimensions; ++d) {
    char times = 'x';
    if (d > 0) in >> times;
    read = in >> mesh[d] && times == 'x' && mesh[d] >= 1 && read;
  }
  if (!read || in.peek() != EOF)
    throw CLI::ValidationError("--mesh", dimensions == 2 ? "two numbers as 2x4, not " + text
                                                         : "three numbers as 2x4x1, not " + text);
  return mesh;
}

CLI::Validator at_least(std::int64_t smallest) {
  auto const check = [smallest](std::string const& text) -> std::string {
    std::int64_t value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= smallest) return {};
    return "at least " + std::to_string(smallest) + ", not " + text;
  };
  return {check, ""};
}

void add_sizes(CLI::App& app, Program const& program, Options& options, std::string& mesh) {
  constexpr std::array cells{"Number of cells", "Rows and columns; one number for a square",
                             "Planes, rows and columns; one number for a cube"};
  constexpr std::array cuts{
      "", "Cut the rows A ways and the columns B ways; as square as can be if not given",
      "Cut the planes A ways, the rows B ways and the columns C ways"};
  auto const dimensions = program.defaults.cells.size();
  app.add_option("--cells", options.cells, cells.at(dimensions - 1))
      ->expected(1, static_cast<int>(dimensions))
      ->check(at_least(program.smallest_extent))
      ->type_name("N")
      ->capture_default_str();
  if (dimensions > 1)
    app.add_option("--mesh", mesh, cuts.at(dimensions - 1))
        ->type_name(dimensions == 2 ? "AxB" : "AxBxC");
}

void add_options(CLI::App& app, Program const& program, Options& options, std::string& mesh) {
  add_sizes(app, program, options, mesh);
  app.add_option("--steps", options.steps, "Number of steps")
      ->check(at_least(0))
      ->type_name("N")
      ->capture_default_str();
  if (program.chooses_ends)
    app.add_flag("--periodic", options.periodic, "Join the ends instead of fixing them at 0");
  app.add_option("--picture", options.picture, "Draw the end result")
      ->type_name("on|off")
      ->capture_default_str()
      ->default_str("on");
  if (program.writes_png)
    app.add_option("--png", options.png, "Write the end result as a picture")->type_name("FILE");
}

void complete(Options& options, Program const& program, std::string const& mesh) {
  auto const dimensions = program.defaults.cells.size();
  options.cells.resize(dimensions, options.cells.front());
  options.mesh =
      mesh.empty() ? near_square(program.workers, dimensions) : mesh_from(mesh, dimensions);
  std::int64_t used = 1;
  for (auto const n : options.mesh) used *= n;
  if (used != program.workers)
    throw CLI::ValidationError("--mesh", mesh + " makes " + std::to_string(used) +
                                             ", but the job has " +
                                             std::to_string(program.workers) + " to cut over");
}

std::int64_t power(std::int64_t base, std::size_t exponent) {
  std::int64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

std::vector<std::int64_t> near_square(std::int64_t n, std::size_t dimensions) {
  std::vector<std::int64_t> factors;
  for (auto left = dimensions; left > 0; --left) {
    // The largest factor that leaves the others as much each.
    std::int64_t smallest = 1;
    for (std::int64_t i = 2; power(i, left) <= n; ++i)
      if (n % i == 0) smallest = i;
    factors.push_back(left == 1 ? n : smallest);
    n /= factors.back();
  }
  std::sort(factors.rbegin(), factors.rend());
  return factors;
}

CommandLine parse(int argc, char const* const* argv, Program const& program, bool speaks) {
  CommandLine result{program.defaults, {}};
  std::string mesh;
  CLI::App app(program.description, program.name);
  add_options(app, program, result.options, mesh);
  try {
    app.parse(argc, argv);
    complete(result.options, program, mesh);
  } catch (CLI::ParseError const& error) {
    std::ostringstream help;
    std::ostringstream mistake;
    bool const is_help = app.exit(error, help, mistake) == 0;
    if (speaks) std::cout << help.str();
    if (speaks) std::cerr << mistake.str();
    result.leave = is_help ? 0 : usage_exit_code;
  }
  return result;
}

}  // namespace examples
