#include "src/mesh/axis_roles.hpp"

#include <charconv>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

std::optional<AxisRole> role_named(std::string const& word) {
  if (word == "copies") return computes_copies;
  if (word == "terms") return cuts_terms;
  AxisRole dimension = -1;
  auto const* const end = word.data() + word.size();
  auto const [last, error] = std::from_chars(word.data(), end, dimension);
  if (error != std::errc() || last != end || dimension < 0) return std::nullopt;
  return dimension;
}

std::string name_of(AxisRole role) {
  if (role == computes_copies) return "copies";
  return role == cuts_terms ? "terms" : std::to_string(role);
}

}  // namespace

AxisRoles AxisRoles::from_environment() {
  constexpr auto variable = "TESSERA_ROLES";
  AxisRoles roles;
  for (auto const& [axis, word] : environment_settings(variable)) {
    auto const role = role_named(word);
    if (axis.empty() || !role || roles.of(axis))
      throw ConfigError(tessera::text(
          variable, '=', excerpt(*environment(variable)),
          " is not a list of axes of a mesh and their roles, as x=0,y=terms,z=copies, with the "
          "number of a dimension, terms, or copies; fix or unset it"));
    roles.add(axis, *role);
  }
  return roles;
}

std::optional<AxisRole> AxisRoles::of(std::string_view axis) const {
  for (auto const& [name, role] : roles_)
    if (name == axis) return role;
  return std::nullopt;
}

std::string AxisRoles::text() const {
  std::string list;
  for (auto const& [axis, role] : roles_)
    list += tessera::text(list.empty() ? "" : ",", axis, '=', name_of(role));
  return list;
}

}  // namespace tessera
