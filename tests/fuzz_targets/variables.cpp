// Values of the environment: lines of NAME=VALUE, of which the variables of Tessera are set.
#include "src/runtime/start/variables.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "src/base/environment.hpp"
#include "src/job/bootstrap.hpp"
#include "src/plan/loop_variables.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::array names{"TESSERA_CHECK",      "TESSERA_COLOR",   "TESSERA_DEPTH",
                           "TESSERA_DEVICE",     "TESSERA_DEVICES", "TESSERA_EMULATED_PEERS",
                           "TESSERA_GPU_ROUTE",  "TESSERA_GRAPHS",  "TESSERA_OVERLAP",
                           "TESSERA_REPORT",     "TESSERA_ROUTE",   "TESSERA_SILENCE",
                           "TESSERA_SLOT_BYTES", "TESSERA_STALL",   "TESSERA_STRICT",
                           "TESSERA_TILE",       "TESSERA_TRACE"};

void set_variables(std::string_view lines) {
  for (auto const* const name : names) ::unsetenv(name);
  while (!lines.empty()) {
    auto const line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    auto const equals = line.find('=');
    auto const found = std::ranges::find(names, line.substr(0, equals));
    if (equals == std::string_view::npos || found == names.end()) continue;
    ::setenv(*found, std::string(line.substr(equals + 1)).c_str(), 1);
  }
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  static auto const bootstrap = make_single_bootstrap();
  set_variables(as_text(bytes));
  check_variables(*bootstrap);

  // They are right: what reads them later accepts them, too.
  auto const loop = LoopVariables::from_environment();
  require(loop.depth.value_or(1) >= 1, "a depth below 1");
  for (auto const extent : loop.tile.value_or(Shape{})) require(extent >= 0, "a tile below 0");
  require(environment_integer("TESSERA_DEVICES", 1).value_or(1) >= 1, "no devices");
}

}  // namespace tessera::fuzz
