#pragma once
/// @file
/// Where the cells of a product are computed.
///
/// Each axis of the target's mesh gets a role: it cuts one of the target's dimensions, it cuts the
/// terms, or its devices compute copies. The price of a plan is the time in which a device
/// multiplies and receives what it lacks, and its host receives what comes from other hosts. The
/// cheapest plan is taken. It is the same on every process, since it follows from shapes, shardings
/// and the numbers of the machine alone.

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/layout/named_sharding.hpp"

#include "src/mesh/axes.hpp"
#include "src/mesh/axis_roles.hpp"
#include "src/plan/costs.hpp"

namespace tessera {

/// A device finds out for each of its boxes what it lacks, which takes long for many of them: an
/// array with more pieces than this on a device is not computed on, or cut, where it lies.
inline constexpr std::int64_t most_pieces = 8;

/// A label of a product, and the axes of the target's mesh that cut the operands and the target
/// along it. An operand on another mesh has none.
struct PlannedLabel {
  std::int64_t extent = 1;
  bool in_a = false;
  bool in_b = false;
  bool in_target = false;
  AxisNames axes_a = {};
  AxisNames axes_b = {};
  AxisNames axes_target = {};
  /// The array is cut into many small pieces, as by cyclic(1), so that a device owns some cells of
  /// each part of an even cut. Work elsewhere than in the target does not take such a cut.
  bool scattered_a = false;
  bool scattered_b = false;
  bool scattered_target = false;
};

/// Everything that a plan depends on.
struct ProductSizes {
  Mesh mesh;                         ///< the target's
  std::vector<PlannedLabel> labels;  ///< those of the target first, in its order
  std::int64_t cell_bytes = 8;
  bool a_on_mesh = true;  ///< the operand lies on the target's mesh
  bool b_on_mesh = true;
  bool adds = false;               ///< the product is added to the target, so the target is read
  bool may_cut_terms = true;       ///< sums may pass from device to device
  bool adds_parts = false;         ///< they do not pass, but are added at the end
  bool may_stay_in_target = true;  ///< cells may be computed where the target has them
  bool may_leave_target = true;    ///< cells may be computed elsewhere than in the target
  Machine machine = {};
};

/// What a device does that has an equal share of the work, and how long that takes.
struct ProductPrice {
  double received_bytes = 0;
  double network_bytes = 0;  ///< received from other hosts, by all devices of a host together
  double multiplications = 0;
  double read_cells = 0;  ///< cells of the operands, as often as they are read
  double messages = 0;    ///< received, one after the other
  double turns = 1;       ///< the factor by which waiting for other devices prolongs the work
  double seconds = 0;     ///< in total
};

/// Roles for all axes, and their price.
struct ProductPlan {
  std::vector<AxisNames> axes;  ///< the axes that cut each dimension of the target
  AxisNames relay;              ///< the axes that cut the terms, the major one first
  ProductPrice price;

  /// True if devices need temporaries for cells of the operand that they lack.
  [[nodiscard]] bool gathers_a(ProductSizes const& sizes) const;
  [[nodiscard]] bool gathers_b(ProductSizes const& sizes) const;
  /// The bytes of these temporaries on a device with an equal share of the work.
  [[nodiscard]] std::int64_t gathered_bytes(ProductSizes const& sizes) const;
  /// The bytes of a device's sums, where they do not lie in the target.
  [[nodiscard]] std::int64_t sum_bytes(ProductSizes const& sizes) const;
  /// The dimension of the target along which the sums of a relay are cut into chunks: the longest
  /// one that no axis cuts.
  [[nodiscard]] std::optional<std::size_t> chunked_label(ProductSizes const& sizes) const;
  /// True if cells are computed where the target has them.
  [[nodiscard]] bool is_in_place(ProductSizes const& sizes) const;
  /// The roles of the axes that have more than one device.
  [[nodiscard]] AxisRoles roles(Mesh const& mesh) const;
};

/// A plan, and the best of the others that were compared with it.
struct ChosenPlan : ProductPlan {
  std::optional<ProductPlan> runner_up;
};

/// The number of chunks in which sums pass along `devices`, for an extent of that dimension.
[[nodiscard]] std::int64_t relay_chunks(std::int64_t devices, std::int64_t extent);

/// Finds the cheapest plan. The search starts with the target's own place, and takes another plan
/// only if its price is below 0.95 of the best one so far. Up to four axes of more than one device
/// get all combinations of roles. With more axes, each in turn gets the role that is best beside
/// the others, in up to eight rounds, once from the target's own place and once from a relay. Axes
/// that `sizes.machine.roles` names get the roles given there. Throws: UsageError if no plan has
/// these roles.
[[nodiscard]] ChosenPlan plan_product(ProductSizes const& sizes);

}  // namespace tessera
