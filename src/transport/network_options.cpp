#include "src/transport/network_options.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/checks.hpp"
#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/transport/transport_table.hpp"

namespace tessera {
namespace {

/// The routes that TESSERA_ROUTE may name: those between processes, in this build or not.
std::vector<Route> routes_between_processes() {
  std::vector<Route> routes;
  for (auto const& entry : transport_table())
    if (is_between_processes(entry.route)) routes.push_back(entry.route);
  return routes;
}

std::optional<Route> forced_route() {
  auto const routes = routes_between_processes();
  std::vector<std::string_view> names;
  std::transform(routes.begin(), routes.end(), std::back_inserter(names),
                 [](Route route) { return to_string(route); });
  auto const wanted = environment_choice("TESSERA_ROUTE", names);
  if (!wanted) return std::nullopt;
  auto const found = std::find(names.begin(), names.end(), *wanted);
  return routes[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace

NetworkOptions NetworkOptions::from_environment() {
  NetworkOptions options;
  options.forced = forced_route();
  options.slot_bytes = environment_integer("TESSERA_SLOT_BYTES", least_slot_bytes).value_or(0);
  if (options.slot_bytes > most_slot_bytes)
    throw ConfigError(text("TESSERA_SLOT_BYTES=", options.slot_bytes, " is more than ",
                           most_slot_bytes, "; fix or unset it"));
  if (auto const seconds = environment_seconds("TESSERA_STALL")) options.stall_seconds = *seconds;
  if (auto const seconds = environment_seconds("TESSERA_SILENCE"))
    options.silence_seconds = *seconds;
  auto const checks = Checks::from_environment();
  options.compares_statements = checks.communication;
  options.compares_numbers = checks.numbers;
  return options;
}

NetworkOptions NetworkOptions::agreed(Bootstrap& bootstrap) const {
  std::array<std::int64_t, 3> asked{compares_statements ? 1 : 0, compares_numbers ? 1 : 0,
                                    slot_bytes};
  bootstrap.max_of_each(asked);
  auto options = *this;
  options.compares_statements = asked[0] != 0;
  options.compares_numbers = asked[1] != 0;
  options.slot_bytes = asked[2];
  return options;
}

}  // namespace tessera
