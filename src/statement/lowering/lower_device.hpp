#pragma once
/// @file
/// What the lowering of a statement on one device has found so far. Its steps are files of their
/// own: where cells lie meanwhile (lower_device.cpp), what is sent and copied
/// (lower_transfers.cpp), and how the kernel is called (lower_parts.cpp).

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/lowering/operand.hpp"

namespace tessera {

/// A block of scratch memory for the places of a temporary.
struct TemporaryMemory {
  PaddedShardLayout padded_layout;
  std::int64_t offset_bytes = 0;
};

/// The work of a device on one of its boxes, and the memory of its operands and cells.
struct Work {
  std::size_t number = 0;  ///< among the device's
  Box indices;
  std::size_t box = 0;    ///< of the layout that says where the work is done
  std::size_t write = 0;  ///< of the plan's
  Operand target = {};    ///< the cells that are written, in the target
  Operand stage = {};     ///< in the scratch area, where the write is staged
};

/// The boxes that one device holds of a statement's arrays.
class DeviceArrays {
 public:
  DeviceArrays(StatementUse const& use, DeviceId device);

  /// One of the device's boxes of the array that an operand reads.
  [[nodiscard]] StoredBox const& box(std::size_t operand, std::size_t number) const {
    return boxes_[first_operand_[operand]][number];
  }
  /// One of the device's boxes of the target.
  [[nodiscard]] StoredBox const& target_box(std::size_t number) const { return target_[number]; }

 private:
  std::vector<std::size_t> first_operand_;
  std::vector<std::vector<StoredBox>> boxes_;  // by the first operand of their array
  std::vector<StoredBox> target_;
};

/// The state of the lowering.
struct DeviceLowering {
  StatementUse const& use;
  DeviceArrays const& arrays;
  std::vector<Work> works;
  ExchangePlan exchange;
  std::vector<TemporaryMemory> temporaries;  ///< as those of the exchange
  LoweredDevice plan;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> buffers;  ///< operand and box: number

  /// The number of a box among the buffers that the plan names, once for all operands of its array.
  std::size_t buffer(std::size_t operand, std::size_t box);
  [[nodiscard]] std::int64_t element_bytes(std::size_t operand) const {
    return use.statement.operands[operand].array->element_bytes();
  }
};

/// Messages and local copies. The places of operands and targets are known.
void lower_transfers(DeviceLowering& lowering);

/// The calls of the kernel over one box of the device's work.
void lower_parts(DeviceLowering& lowering, Work const& work);

}  // namespace tessera
