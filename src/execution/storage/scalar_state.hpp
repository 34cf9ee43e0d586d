#pragma once
/// @file
/// One value that every device of the job holds: the result of a reduction.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/device/host_memory.hpp"
#include "src/statement/scalar_model.hpp"

namespace tessera {

/// A copy of at most 16 bytes per local device, each in a cache line of its own.
class ScalarState : public ScalarModel {
 public:
  ScalarState(std::int64_t local_devices, std::uint64_t number)
      : ScalarModel(number), values_(local_devices * line) {}

  /// The copy of a local device, counted from 0. Written by its worker.
  [[nodiscard]] std::byte* value(std::int64_t local_index) {
    return values_.data() + local_index * line;
  }

 private:
  static constexpr std::int64_t line = 64;
  HostMemory values_;
};

/// The scalar that a statement names. Of a program that runs each has its value.
[[nodiscard]] inline ScalarState& storage_of(ScalarModel& scalar) {
  return static_cast<ScalarState&>(scalar);
}
[[nodiscard]] inline std::shared_ptr<ScalarState> storage_of(
    std::shared_ptr<ScalarModel> const& scalar) {
  return std::static_pointer_cast<ScalarState>(scalar);
}

}  // namespace tessera
