#include "src/plan/costs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<std::string_view, double Costs::*>, 5> names{{
    {"multiplications", &Costs::multiplications},
    {"read_cells", &Costs::read_cells},
    {"received_bytes", &Costs::received_bytes},
    {"network_bytes", &Costs::network_bytes},
    {"messages", &Costs::messages},
}};

// Sets one number. Returns false if there is no such name or the value is no such number.
bool set(Costs& costs, std::string const& name, std::string const& number) {
  auto const* const found =
      std::ranges::find(names, name, [](auto const& known) { return known.first; });
  if (found == names.end()) return false;
  double value = 0;
  auto const* const end = number.data() + number.size();
  auto const [last, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc() || last != end || !(value > 0 && value <= Costs::most)) return false;
  costs.*found->second = value;
  return true;
}

}  // namespace

Costs Costs::from_environment() {
  constexpr auto variable = "TESSERA_COSTS";
  Costs costs;
  for (auto const& [name, number] : environment_settings(variable))
    if (!set(costs, name, number)) {
      std::vector<std::string_view> known;
      for (auto const& entry : names) known.push_back(entry.first);
      throw ConfigError(text(variable, '=', excerpt(*environment(variable)),
                             " is not a list of numbers for ", join(known),
                             ", as network_bytes=1.25e9,messages=8e4; fix or unset it"));
    }
  return costs;
}

}  // namespace tessera
