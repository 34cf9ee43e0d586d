#include "options.hpp"

#include "src/base/text.hpp"

namespace info {

char const* const help_text =
    R"(usage: tessera-info [--json] [--no-measure]

Says what this build of Tessera can do and what it finds: devices, hosts, processes, transports, the
route between devices of one process, of one host and of different hosts, and why; how the program was
launched and bound, and whether its threads have cores of their own. Under mpirun with several processes
it also measures each route beside plain MPI, which takes a second or two. Process 0 prints.

  --json         the same as JSON; keys end in the unit of their number
  --no-measure   leaves the measurements out
  --version      the version alone
  --help         this text
)";

Options parse(std::vector<std::string> const& arguments) {
  Options options;
  for (auto const& argument : arguments) {
    if (argument == "--json")
      options.as_json = true;
    else if (argument == "--no-measure")
      options.measures = false;
    else if (argument == "--help" || argument == "-h")
      options.wants_help = true;
    else if (argument == "--version")
      options.wants_version = true;
    else if (options.error.empty())
      options.error = tessera::text("there is no option '", tessera::excerpt(argument),
                                    "'; tessera-info --help lists them");
  }
  return options;
}

}  // namespace info
