#include "src/plan/costs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

constexpr std::array<std::pair<std::string_view, double Costs::*>, 4> names{{
    {"multiplications", &Costs::multiplications},
    {"received_bytes", &Costs::received_bytes},
    {"network_bytes", &Costs::network_bytes},
    {"messages", &Costs::messages},
}};

// Sets "name=number". Returns whether it is that.
bool set(Costs& costs, std::string_view entry) {
  auto const equals = std::min(entry.find('='), entry.size());
  auto const found = std::ranges::find(names, entry.substr(0, equals),
                                       [](auto const& name) { return name.first; });
  if (found == names.end() || equals == entry.size()) return false;
  double value = 0;
  auto const* const end = entry.data() + entry.size();
  auto const [last, error] = std::from_chars(entry.data() + equals + 1, end, value);
  if (error != std::errc() || last != end || !(value > 0 && value <= Costs::most)) return false;
  costs.*found->second = value;
  return true;
}

}  // namespace

Costs Costs::from_environment() {
  Costs costs;
  auto const value = environment("TESSERA_COSTS");
  if (!value) return costs;
  for (std::string_view rest = *value;;) {
    auto const comma = std::min(rest.find(','), rest.size());
    if (!set(costs, rest.substr(0, comma))) {
      std::vector<std::string_view> known;
      for (auto const& [name, cost] : names) known.push_back(name);
      throw ConfigError(text("TESSERA_COSTS=", excerpt(*value), " is not a list of numbers for ",
                             join(known),
                             ", as network_bytes=1.25e9,messages=8e4; fix or unset it"));
    }
    if (comma == rest.size()) return costs;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace tessera
