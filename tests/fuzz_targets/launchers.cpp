// Variables of launchers: lines of NAME=VALUE, in place of the environment.
#include <map>
#include <optional>
#include <string>

#include "src/base/text.hpp"
#include "src/job/launch.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

std::map<std::string, std::string, std::less<>> variables_in(std::string_view lines) {
  std::map<std::string, std::string, std::less<>> variables;
  while (!lines.empty()) {
    auto const line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    auto const equals = line.find('=');
    if (equals == std::string_view::npos || equals + 1 == line.size()) continue;
    variables[std::string(line.substr(0, equals))] = line.substr(equals + 1);
  }
  return variables;
}

void check_number(std::optional<std::int64_t> const& number) {
  require(number.value_or(0) >= 0, "a number below 0");
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  auto const variables = variables_in(as_text(bytes));
  EnvironmentLookup const look = [&](std::string_view name) -> std::optional<std::string> {
    auto const found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  auto const facts = launch_facts(look);
  check_number(facts.process);
  check_number(facts.process_count);
  check_number(facts.local_process);
  check_number(facts.local_count);
  check_words(launch_warning(look));
  check_words(text(facts));
  auto const point = rendezvous(look);
  require(point.port >= 61440 && point.port < 65536, "a port of others");
  require(!point.host.empty(), "no host to meet at");
  check_words(text(point));
}

}  // namespace tessera::fuzz
