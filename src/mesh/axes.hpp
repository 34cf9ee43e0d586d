#pragma once
/// @file
/// Lists of mesh axes by name.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

namespace tessera {

using AxisNames = std::vector<std::string>;

/// True if the list has the name.
[[nodiscard]] inline bool contains(AxisNames const& axes, std::string const& name) {
  return std::find(axes.begin(), axes.end(), name) != axes.end();
}

/// True if the axis cuts a dimension.
[[nodiscard]] inline bool is_cut_by(PartitionSpec const& spec, std::string const& axis) {
  return std::any_of(spec.entries().begin(), spec.entries().end(),
                     [&](SpecEntry const& entry) { return contains(entry.axes(), axis); });
}

/// The names of `axes` that `others` does not have.
[[nodiscard]] inline AxisNames without(AxisNames const& axes, AxisNames const& others) {
  AxisNames rest;
  for (auto const& name : axes)
    if (!contains(others, name)) rest.push_back(name);
  return rest;
}

/// How many devices lie along the axes: the product of their sizes.
/// Throws: ShardingError if the mesh lacks one of them.
[[nodiscard]] inline std::int64_t devices_along(Mesh const& mesh, AxisNames const& axes) {
  std::int64_t devices = 1;
  for (auto const& name : axes) devices *= mesh.axes()[mesh.axis(name)].size;
  return devices;
}

/// The number of these coordinates of a mesh along some of its axes, the major one first.
[[nodiscard]] inline std::int64_t number_along(Mesh const& mesh, AxisNames const& axes,
                                               Index const& coordinates) {
  std::int64_t number = 0;
  for (auto const& name : axes) {
    auto const d = mesh.axis(name);
    number = number * mesh.axes()[d].size + coordinates[d];
  }
  return number;
}
/// The same of a device; none if it is not on the mesh.
[[nodiscard]] inline std::optional<std::int64_t> number_along(Mesh const& mesh,
                                                              AxisNames const& axes,
                                                              DeviceId device) {
  auto const position = mesh.position_of(device);
  if (!position) return std::nullopt;
  return number_along(mesh, axes, mesh.coordinates(*position));
}

/// "mesh axis 'x'", "mesh axes 'x', 'y'", "no mesh axis"
[[nodiscard]] inline std::string axes_text(SpecEntry const& entry) {
  auto const& axes = entry.axes();
  if (axes.empty()) return "no mesh axis";
  return excerpt(join(axes, axes.size() == 1 ? "mesh axis '" : "mesh axes '", "'", "', '"));
}

}  // namespace tessera
