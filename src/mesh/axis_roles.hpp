#pragma once
/// @file
/// What the axes of a mesh do in an operation, such as a product.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// The number of the dimension of the result that an axis cuts, or one of the constants.
using AxisRole = int;
/// The devices along the axis compute the same cells.
inline constexpr AxisRole computes_copies = -1;
/// Each device along the axis adds its own terms.
inline constexpr AxisRole cuts_terms = -2;

/// Roles of axes, as in "x=0,y=terms,z=copies": axis x cuts dimension 0 of the result, y the terms,
/// and the devices along z compute copies.
class AxisRoles {
 public:
  /// The roles that TESSERA_ROLES asks for; none if it is unset. Tests and measurements set it.
  /// Throws: ConfigError if it is no such list or names an axis twice.
  [[nodiscard]] static AxisRoles from_environment();

  [[nodiscard]] bool empty() const { return roles_.empty(); }
  [[nodiscard]] std::optional<AxisRole> of(std::string_view axis) const;
  void add(std::string axis, AxisRole role) { roles_.emplace_back(std::move(axis), role); }
  /// The list, as TESSERA_ROLES takes it.
  [[nodiscard]] std::string text() const;

  friend bool operator==(AxisRoles const&, AxisRoles const&) = default;

 private:
  std::vector<std::pair<std::string, AxisRole>> roles_;
};

}  // namespace tessera
