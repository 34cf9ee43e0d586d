#pragma once
/// @file
/// Where the cells of a product are computed.
///
/// Each axis of the target's mesh gets a role: it cuts one of the target's dimensions, it cuts the
/// terms, or its devices compute copies. A choice takes so many seconds: a device multiplies, it
/// receives what it lacks, and its host receives what comes from other hosts. The plan is the
/// choice that takes the least. It is the same on every process, since only shapes, shardings and
/// the numbers of the machine enter.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/layout/named_sharding.hpp"

#include "src/plan/costs.hpp"

namespace tessera {

/// A label of a product, and how the operands and the target are cut along it.
struct PlannedLabel {
  std::int64_t extent = 1;
  bool in_a = false;
  bool in_b = false;
  bool in_target = false;
  std::vector<std::string> axes_a =
      {};  ///< of the target's mesh; those of other meshes count as none
  std::vector<std::string> axes_b = {};
  std::vector<std::string> axes_target = {};
};

/// All that a plan depends on.
struct ProductSizes {
  Mesh mesh;                         ///< of the target
  std::vector<PlannedLabel> labels;  ///< those of the target first, in its order
  std::int64_t cell_bytes = 8;
  bool a_on_mesh = true;  ///< the operand lies on the target's mesh
  bool b_on_mesh = true;
  bool adds = false;          ///< the target is read
  bool may_cut_terms = true;  ///< sums can pass from device to device
  Machine machine = {};
};

/// What a device does at most.
struct ProductPrice {
  double received_bytes = 0;
  double network_bytes = 0;  ///< that all devices of a host together receive from other hosts
  double multiplications = 0;
  double turns = 1;    ///< how much longer it takes because devices wait for each other
  double seconds = 0;  ///< all together
};

/// A choice of roles.
struct ProductPlan {
  std::vector<std::vector<std::string>> axes;  ///< that cut each dimension of the target
  std::vector<std::string> relay;              ///< that cut the terms, the major one first
  ProductPrice price;

  /// What a device lacks of an operand comes to memory beside the rest of it.
  [[nodiscard]] bool gathers_a(ProductSizes const& sizes) const;
  [[nodiscard]] bool gathers_b(ProductSizes const& sizes) const;
  /// The memory for that, at most.
  [[nodiscard]] std::int64_t gathered_bytes(ProductSizes const& sizes) const;
  /// The dimension of the target along which a relay's sums are cut into chunks: the longest that
  /// is whole on each device.
  [[nodiscard]] std::optional<std::size_t> chunked_label(ProductSizes const& sizes) const;
  /// True if cells are computed where the target has them.
  [[nodiscard]] bool is_in_place(ProductSizes const& sizes) const;
};

/// The chunks in which sums pass along `devices`.
[[nodiscard]] std::int64_t relay_chunks(std::int64_t devices, std::int64_t extent);

/// The plan that takes the least time: from the target's own place on, another one has to take less
/// than 0.95 of the time of the best so far. Of more than four axes that are longer than 1 not all
/// combinations of roles are tried: from the target's own place, and from a relay, each axis in
/// turn takes the role that is the best beside the others, in up to eight rounds.
[[nodiscard]] ProductPlan plan_product(ProductSizes const& sizes);

}  // namespace tessera
