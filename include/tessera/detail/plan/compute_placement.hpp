#pragma once
/// @file
/// Which device computes which indices of a statement.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/detail/index/affine_map.hpp"
#include "tessera/layout/layout.hpp"

namespace tessera::detail {

/// The part of a statement that a device computes on one of the boxes that it owns.
struct WorkBox {
  std::size_t box = 0;  ///< counted as Layout::boxes_of lists them
  Box indices;

  friend bool operator==(WorkBox const&, WorkBox const&) = default;
  friend std::ostream& operator<<(std::ostream& out, WorkBox const& work);
};

/// Where a statement is computed: the devices that own cell `map(i)` of an array laid out as
/// `layout` compute index i.
struct ComputePlacement {
  std::shared_ptr<Layout const> layout;
  AffineMap map;
  Box indices;

  /// The indices that `device` computes: for each of its boxes that has some, in order.
  [[nodiscard]] std::vector<WorkBox> work_of(DeviceId device) const;
  [[nodiscard]] std::uint64_t fingerprint() const;
};

}  // namespace tessera::detail
