#include "support/options.hpp"

#include <iostream>
#include <sstream>
#include <stdexcept>

#include <CLI/CLI.hpp>

namespace examples {
namespace {

constexpr int usage_exit_code = 2;

// "2x4" is two numbers.
std::vector<std::int64_t> mesh_from(std::string const& text) {
  std::istringstream in(text);
  std::vector<std::int64_t> mesh(2);
  char times = 0;
  bool const read = static_cast<bool>(in >> mesh[0] >> times >> mesh[1]);
  if (!read || times != 'x' || mesh[0] < 1 || mesh[1] < 1 || in.peek() != EOF)
    throw CLI::ValidationError("--mesh", "two numbers as 2x4, not " + text);
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

void add_options(CLI::App& app, Program const& program, Options& options, std::string& mesh) {
  int const dimensions = static_cast<int>(program.defaults.cells.size());
  app.add_option("--cells", options.cells,
                 dimensions == 1 ? "Number of cells" : "Rows and columns; one number for a square")
      ->expected(1, dimensions)
      ->check(at_least(program.smallest_extent))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--steps", options.steps, "Number of steps")
      ->check(at_least(0))
      ->type_name("N")
      ->capture_default_str();
  if (program.may_have_ends)
    app.add_flag("--periodic", options.periodic, "Join the ends instead of fixing them at 0");
  if (dimensions == 2)
    app.add_option("--mesh", mesh,
                   "Cut the rows A ways and the columns B ways; as square as can be if not given")
        ->type_name("AxB");
  app.add_option("--picture", options.picture, "Draw the end result")
      ->type_name("on|off")
      ->capture_default_str()
      ->default_str("on");
}

void complete(Options& options, Program const& program, std::string const& mesh) {
  auto const dimensions = program.defaults.cells.size();
  options.cells.resize(dimensions, options.cells.front());
  if (!mesh.empty())
    options.mesh = mesh_from(mesh);
  else if (dimensions == 2)
    options.mesh = near_square(program.workers);
  else
    options.mesh = {program.workers};
  std::int64_t used = 1;
  for (auto const n : options.mesh) used *= n;
  if (used != program.workers)
    throw CLI::ValidationError("--mesh", mesh + " makes " + std::to_string(used) +
                                             ", but the job has " +
                                             std::to_string(program.workers) + " to cut over");
}

}  // namespace

std::vector<std::int64_t> near_square(std::int64_t n) {
  std::int64_t smaller = 1;
  for (std::int64_t i = 2; i * i <= n; ++i)
    if (n % i == 0) smaller = i;
  return {n / smaller, smaller};
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
