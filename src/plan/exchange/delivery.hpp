#pragma once
/// @file
/// The cells that one device gets from one owner.

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "src/plan/exchange/cells.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/exchange/temporaries.hpp"

namespace tessera {

/// The cells that one device reads of each operand: for each of its work boxes, combinations of
/// affine pieces that are cells; for those that are read through temporaries, by temporary.
class Reader {
 public:
  Reader(DeviceId device, std::span<OperandUse const> operands, ComputePlacement const& place);

  /// Cells that the device reads: into one of its temporaries, or for one of its work boxes.
  struct Need {
    std::size_t into;
    Cells cells;
  };

  [[nodiscard]] DeviceId device() const { return device_; }
  [[nodiscard]] std::vector<Need> const& needs(std::size_t operand) const {
    return needs_[operand];
  }
  [[nodiscard]] Temporaries take_temporaries() { return std::move(temporaries_); }

 private:
  void add_needs(std::size_t number, OperandUse const& operand, std::span<WorkBox const> works);

  DeviceId device_;
  std::vector<std::vector<Need>> needs_;  // per operand
  Temporaries temporaries_;
};

/// The cells that a reader must get from one owner, which may be itself: all of the owner's cells
/// that it reads, except those in its own shard and those for which its ghost cells are valid. By
/// operand; their peer is `peer`.
///
/// Ranks: pure. Both ends make this list from the same numbers and from no other data, so they make
///        it in the same order, and the work of a device does not depend on the number of devices.
[[nodiscard]] std::vector<Transfer> transfers_between(DeviceId owner, Reader const& reader,
                                                      std::span<OperandUse const> operands,
                                                      DeviceId peer);

}  // namespace tessera
