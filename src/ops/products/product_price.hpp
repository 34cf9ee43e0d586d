#pragma once
/// @file
/// How long a device takes for its part of a product, by the numbers of plan/costs.hpp.

#include <cstdint>
#include <string>
#include <vector>

#include "src/mesh/axes.hpp"
#include "src/mesh/member_hosts.hpp"
#include "src/ops/products/product_plan.hpp"

namespace tessera {

/// Into how many parts the axes of a mesh cut something.
/// Lifetime: the mesh outlives it.
class AxisParts {
 public:
  /// One part for each device along an axis.
  [[nodiscard]] static AxisParts of_devices(Mesh const& mesh);
  /// One part for each host on which devices along an axis are.
  [[nodiscard]] static AxisParts of_hosts(Mesh const& mesh, MemberHosts const& hosts);

  [[nodiscard]] std::int64_t along(std::string const& axis) const {
    return parts_[mesh_.axis(axis)];
  }
  [[nodiscard]] std::int64_t along(AxisNames const& axes) const;
  /// Along all axes that are in one of the lists.
  [[nodiscard]] std::int64_t along_either(AxisNames const& one, AxisNames const& other) const;

 private:
  explicit AxisParts(Mesh const& mesh) : mesh_(mesh) {}

  Mesh const& mesh_;
  std::vector<std::int64_t> parts_;  ///< by axis
};

/// The prices of the plans of one product.
/// Lifetime: the sizes outlive it.
class ProductPrices {
 public:
  explicit ProductPrices(ProductSizes const& sizes) : sizes_(sizes) {}

  [[nodiscard]] ProductPrice of(ProductPlan const& plan) const;
  [[nodiscard]] AxisParts const& devices() const { return devices_; }
  [[nodiscard]] AxisParts const& hosts() const { return hosts_; }

 private:
  ProductSizes const& sizes_;
  AxisParts devices_ = AxisParts::of_devices(sizes_.mesh);
  AxisParts hosts_ = AxisParts::of_hosts(sizes_.mesh, sizes_.machine.hosts);
};

}  // namespace tessera
