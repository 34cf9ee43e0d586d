#include "src/execution/tree_reduction.hpp"

#include <array>
#include <cstdint>
#include <span>

#include <doctest/doctest.h>

#include "src/execution/device_task.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/tree_reduction");

namespace {

using Numbers = std::array<std::int64_t, 3>;

Numbers combined(CombineBytes combine, Numbers into, Numbers const& from) {
  combine(std::as_writable_bytes(std::span(into)), std::as_bytes(std::span(from)));
  return into;
}

}  // namespace

TEST_CASE("numbers are combined one by one") {
  Numbers const a{1, -5, 7};
  Numbers const b{2, -9, 7};
  CHECK(combined(max_numbers, a, b) == Numbers{2, -5, 7});
  CHECK(combined(add_numbers, a, b) == Numbers{3, -14, 14});
  CHECK(combined(or_bytes, {1, 4, 0}, {2, 4, 9}) == Numbers{3, 4, 9});
}

TEST_CASE("a device alone in its tree finishes its own accumulator") {
  TreeLinks alone;
  std::int64_t accumulator = 20;
  double value = 0;
  DeviceTask task;
  task.tree = &alone;
  task.accumulator = reinterpret_cast<std::byte*>(&accumulator);
  task.result = reinterpret_cast<std::byte*>(&value);
  task.reduction.accumulator_bytes = sizeof accumulator;
  task.reduction.value_bytes = sizeof value;
  task.reduction.parameter = 8;
  task.reduction.finish = [](void const* from, double parameter, void* into) {
    *static_cast<double*>(into) =
        static_cast<double>(*static_cast<std::int64_t const*>(from)) / parameter;
  };

  reduce_along_tree(task);

  CHECK(value == 2.5);
}

TEST_CASE("a value that each device computes needs no tree") {
  std::int64_t accumulator = 20;
  std::int64_t value = 0;
  DeviceTask task;
  task.accumulator = reinterpret_cast<std::byte*>(&accumulator);
  task.result = reinterpret_cast<std::byte*>(&value);
  task.reduction.on_each = true;
  task.reduction.finish = [](void const* from, double, void* into) {
    *static_cast<std::int64_t*>(into) = *static_cast<std::int64_t const*>(from);
  };

  reduce_along_tree(task);

  CHECK(value == 20);
}

TEST_CASE("bytes of a member alone stay as they are") {
  TreeLinks alone;
  DeviceTask task;
  task.tree = &alone;
  Numbers numbers{1, 2, 3};
  combine_along_tree(task, std::as_writable_bytes(std::span(numbers)), add_numbers);
  CHECK(numbers == Numbers{1, 2, 3});
}

TEST_SUITE_END();
