#include "tessera/base/ids.hpp"

#include <type_traits>
#include <unordered_set>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/ids");

TEST_CASE("ids of different kinds do not convert into each other, nor numbers into ids") {
  CHECK_FALSE(std::is_convertible_v<DeviceId, ProcessId>);
  CHECK_FALSE(std::is_convertible_v<std::int64_t, DeviceId>);
  CHECK_FALSE(std::is_convertible_v<DeviceId, std::int64_t>);
  CHECK(std::is_constructible_v<DeviceId, std::int64_t>);
}

TEST_CASE("ids compare, print and hash as their numbers") {
  CHECK(DeviceId{} == DeviceId{0});
  CHECK(DeviceId{2} < DeviceId{10});
  CHECK(DeviceId{7}.value() == 7);
  CHECK(text(ProcessId{12}) == "12");

  std::unordered_set<DeviceId> const set{DeviceId{1}, DeviceId{2}, DeviceId{1}};
  CHECK(set.size() == 2);
}

TEST_SUITE_END();
