#include "tessera/mesh/mesh.hpp"

#include <numeric>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/count_allocations.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("mesh/mesh");

namespace {

//         model
//        0   1
// data 0 4   6
//      1 0   2
//      2 7   3
//      3 1   5
Mesh permuted() {
  return {{4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"}};
}

std::vector<MeshAxis> axes_named(std::vector<std::string> const& names) {
  std::vector<MeshAxis> axes;
  for (auto const& name : names) axes.push_back({name, 1});
  return axes;
}

}  // namespace

TEST_CASE("devices lie in row-major order over the axis list") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK(mesh.size() == 8);
  CHECK(mesh.rank() == 2);
  CHECK(join(mesh.axes()) == "x=2, y=4");
  CHECK(mesh.device_at(5) == DeviceId{5});
  CHECK(mesh.coordinates(5) == Index{1, 1});
  CHECK(mesh.coordinates(3) == Index{0, 3});
  CHECK(mesh.position({1, 1}) == 5);
  CHECK(mesh.position_of(DeviceId{7}) == 7);
  CHECK(mesh.last_device() == DeviceId{7});
}

TEST_CASE("a listed order says which device lies where") {
  auto const mesh = permuted();

  CHECK(mesh.device_at(mesh.position({0, 0})) == DeviceId{4});
  CHECK(mesh.device_at(mesh.position({2, 0})) == DeviceId{7});
  CHECK(mesh.device_at(mesh.position({3, 1})) == DeviceId{5});
  CHECK(mesh.coordinates(*mesh.position_of(DeviceId{3})) == Index{2, 1});
  CHECK(mesh.coordinates(*mesh.position_of(DeviceId{0})) == Index{1, 0});
  CHECK(mesh.last_device() == DeviceId{7});
}

TEST_CASE("a mesh may have any of the job's devices, and knows the others are not in it") {
  Mesh const mesh({9, 2, 40}, {3}, {"x"});

  CHECK(mesh.position_of(DeviceId{40}) == 2);
  CHECK(mesh.position_of(DeviceId{9}) == 0);
  CHECK_FALSE(mesh.position_of(DeviceId{0}).has_value());
  CHECK_FALSE(mesh.position_of(DeviceId{10}).has_value());
  CHECK_FALSE(mesh.position_of(DeviceId{41}).has_value());
  CHECK(mesh.last_device() == DeviceId{40});
}

TEST_CASE("consecutive devices need not begin at 0") {
  Mesh const mesh({5, 6, 7, 8}, {2, 2}, {"x", "y"});

  CHECK(mesh.device_at(3) == DeviceId{8});
  CHECK(mesh.position_of(DeviceId{6}) == 1);
  CHECK_FALSE(mesh.position_of(DeviceId{4}).has_value());
  CHECK_FALSE(mesh.position_of(DeviceId{9}).has_value());
  CHECK(mesh.last_device() == DeviceId{8});
}

TEST_CASE("positions, coordinates and devices lead back to each other") {
  for (auto const& mesh : {Mesh({{"x", 5}}), Mesh({{"x", 2}, {"y", 1}, {"z", 3}}), permuted(),
                           Mesh({9, 2, 40, 8}, {2, 2}, {"x", "y"})}) {
    CAPTURE(mesh);
    for (std::int64_t position = 0; position < mesh.size(); ++position) {
      CHECK(mesh.position(mesh.coordinates(position)) == position);
      CHECK(mesh.position_of(mesh.device_at(position)) == position);
    }
  }
}

TEST_CASE("a mesh of eight axes works like one of two") {
  Mesh const mesh({{"a", 2}, {"b", 1}, {"c", 2}, {"d", 2}, {"e", 1}, {"f", 2}, {"g", 2}, {"h", 2}});

  CHECK(mesh.size() == 64);
  CHECK(mesh.coordinates(0b101101) == Index{1, 0, 0, 1, 0, 1, 0, 1});
}

TEST_CASE("meshes are equal if they have the same axes and the same devices in the same places") {
  Mesh const mesh({{"x", 2}, {"y", 2}});

  CHECK(mesh == Mesh({{"x", 2}, {"y", 2}}));
  CHECK(mesh == Mesh({0, 1, 2, 3}, {2, 2}, {"x", "y"}));
  CHECK(mesh.fingerprint() == Mesh({0, 1, 2, 3}, {2, 2}, {"x", "y"}).fingerprint());
  CHECK_FALSE(mesh == Mesh({{"x", 4}}));
  CHECK_FALSE(mesh == Mesh({{"y", 2}, {"x", 2}}));
  CHECK_FALSE(mesh == Mesh({1, 2, 3, 4}, {2, 2}, {"x", "y"}));
  CHECK_FALSE(mesh == Mesh({0, 2, 1, 3}, {2, 2}, {"x", "y"}));
  CHECK(permuted() == permuted());
}

TEST_CASE("meshes that differ have different fingerprints, the same in every run") {
  CHECK(Mesh({{"x", 4}}).fingerprint() != Mesh({{"y", 4}}).fingerprint());
  CHECK(Mesh({{"x", 2}, {"y", 4}}).fingerprint() != Mesh({{"x", 4}, {"y", 2}}).fingerprint());
  CHECK(Mesh({{"x", 2}, {"y", 4}}).fingerprint() == 5061534740600210549ULL);
}

TEST_CASE("a mesh prints its axes, and its devices where they are not 0, 1, 2 and so on") {
  CHECK(text(Mesh({{"x", 2}, {"y", 4}})) == "Mesh(x=2, y=4)");
  CHECK(text(permuted()) == "Mesh(data=4, model=2, devices 4, 6, 0, 2, 7, 3, 1, 5)");
  CHECK(text(Mesh({5, 6, 7}, {3}, {"x"})) == "Mesh(x=3, devices 5 to 7)");
  CHECK(text(Mesh({5}, {1}, {"x"})) == "Mesh(x=1, devices 5)");

  std::vector<std::int64_t> backwards(20);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  CHECK(text(Mesh(backwards, {20}, {"x"})) ==
        "Mesh(x=20, devices 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, ...)");
}

TEST_CASE("a mesh of a million devices costs no more than one of eight") {
  Mesh const mesh({{"x", 1024}, {"y", 1024}});
  test::CountAllocations allocations;

  CHECK(mesh.device_at(1 << 19) == DeviceId{1 << 19});
  CHECK(mesh.position_of(DeviceId{1'000'000}) == 1'000'000);
  CHECK(mesh.coordinates(1'000'000) == Index{976, 576});
  CHECK(mesh.position({976, 576}) == 1'000'000);
  auto const of_calls = allocations.count();
  CHECK(of_calls == 0);
}

TEST_CASE("making a mesh over a range allocates the same for any number of devices") {
  auto const allocations_for = [](std::int64_t devices) {
    std::vector<MeshAxis> axes{{"x", devices}};
    test::CountAllocations const allocations;
    Mesh const mesh(std::move(axes));
    return allocations.count();
  };

  CHECK(allocations_for(1 << 20) == allocations_for(2));
  CHECK(allocations_for(std::int64_t{1} << 40) == allocations_for(2));
}

TEST_CASE("an axis is found by its name, or refused with those there are") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK(mesh.axis("x") == 0);
  CHECK(mesh.axis("y") == 1);
  CHECK_THROWS_WITH_AS((void)mesh.axis("z"), "there is no mesh axis 'z'; the mesh has x, y",
                       ShardingError);
}

TEST_CASE("an axis is split into several, and every device keeps its place") {
  auto const split = permuted().split("data", {{"kv", 2}, {"rep", 2}});

  CHECK(split == Mesh({4, 6, 0, 2, 7, 3, 1, 5}, {2, 2, 2}, {"kv", "rep", "model"}));
  CHECK(split.fingerprint() ==
        Mesh({4, 6, 0, 2, 7, 3, 1, 5}, {2, 2, 2}, {"kv", "rep", "model"}).fingerprint());
  CHECK(split.position_of(DeviceId{3}) == permuted().position_of(DeviceId{3}));
  CHECK(split.coordinates(5) == Index{1, 0, 1});
  CHECK(Mesh({{"data", 2}, {"model", 8}}).split("model", {{"kv", 4}, {"rep", 2}}) ==
        Mesh({{"data", 2}, {"kv", 4}, {"rep", 2}}));
  CHECK(Mesh({5, 6, 7, 8}, {4}, {"x"}).split("x", {{"a", 2}, {"b", 2}}) ==
        Mesh({5, 6, 7, 8}, {2, 2}, {"a", "b"}));
}

TEST_CASE("a part of an axis may keep its name, be the only one, or have one device") {
  Mesh const mesh({{"x", 4}, {"y", 3}});

  CHECK(mesh.split("x", {{"x", 2}, {"z", 2}}) == Mesh({{"x", 2}, {"z", 2}, {"y", 3}}));
  CHECK(mesh.split("y", {{"rows", 3}}) == Mesh({{"x", 4}, {"rows", 3}}));
  CHECK(mesh.split("x", {{"a", 1}, {"b", 4}, {"c", 1}}).coordinates(5) == Index{0, 1, 0, 2});
}

TEST_CASE("a split that does not fit the axis or the mesh is refused") {
  Mesh const mesh({{"data", 2}, {"model", 8}});

  CHECK_THROWS_WITH_AS((void)mesh.split("model", {{"kv", 4}, {"rep", 4}}),
                       "mesh axis 'model' has size 8 but is split into (kv=4, rep=4), which makes "
                       "16; give sizes that multiply to 8",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)mesh.split("x", {{"a", 8}}),
                       "there is no mesh axis 'x'; the mesh has data, model", ShardingError);
  CHECK_THROWS_WITH_AS((void)mesh.split("model", {{"kv", 4}, {"data", 2}}),
                       "mesh axis 'data' is listed twice in (data=2, kv=4, data=2); names must "
                       "differ",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)mesh.split("model", {{"kv", 4}, {"kv", 2}}),
                       "mesh axis 'kv' is listed twice in (data=2, kv=4, kv=2); names must differ",
                       ShardingError);
  CHECK_THROWS_WITH_AS((void)mesh.split("model", {{"kv", -4}, {"rep", -2}}),
                       "mesh axis 'kv' has size -4; sizes are 1 or more", ShardingError);
  CHECK_THROWS_WITH_AS((void)mesh.split("model", {}),
                       "mesh axis 'model' is split into no axes; give a name and a size for each",
                       ShardingError);
}

TEST_CASE("a mesh without axes, or with more than eight, is refused") {
  CHECK_THROWS_WITH_AS(Mesh(std::vector<MeshAxis>{}),
                       "a mesh needs at least one axis; for one device use Mesh({{\"x\", 1}})",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh(axes_named({"a", "b", "c", "d", "e", "f", "g", "h", "i"})),
                       "a mesh of 9 axes is asked for; it may have at most 8", ShardingError);
}

TEST_CASE("axes without devices or without a name of their own are refused") {
  CHECK_THROWS_WITH_AS(Mesh({{"x", 2}, {"y", 0}}), "mesh axis 'y' has size 0; sizes are 1 or more",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({{"x", -2}}), "mesh axis 'x' has size -2; sizes are 1 or more",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({{"x", 2}, {"", 2}}), "axis 1 of a mesh has an empty name",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({{"x", 2}, {"y", 1}, {"x", 3}}),
                       "mesh axis 'x' is listed twice in (x=2, y=1, x=3); names must differ",
                       ShardingError);
}

TEST_CASE("a mesh of more devices than can be counted is refused") {
  CHECK_THROWS_WITH_AS(Mesh({{"x", std::int64_t{1} << 32}, {"y", std::int64_t{1} << 31}}),
                       "a mesh of (x=4294967296, y=2147483648) has more than 2^62 devices",
                       ShardingError);
}

TEST_CASE("a device list that does not fill the shape is refused") {
  CHECK_THROWS_WITH_AS(Mesh({0, 1, 2}, {2, 2}, {"x", "y"}),
                       "3 devices are listed for a mesh of (x=2, y=2), which has 4 places",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({0}, {2}, {"x"}),
                       "1 device is listed for a mesh of (x=2), which has 2 places", ShardingError);
}

TEST_CASE("a device that is listed twice, or negative, is refused with its place") {
  CHECK_THROWS_WITH_AS(
      Mesh({5, 0, 3, 0, 0}, {5}, {"x"}),
      "device 0 is listed twice, at positions 1 and 3; a device has one place in a mesh",
      ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({-1, 0}, {2}, {"x"}),
                       "device -1 is listed at position 0; device ids are 0 or more",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({3, -7}, {2}, {"x"}),
                       "device -7 is listed at position 1; device ids are 0 or more",
                       ShardingError);
}

TEST_CASE("names that do not fit the shape are refused") {
  CHECK_THROWS_WITH_AS(Mesh({0, 1, 2, 3}, {2, 2}, {"x"}),
                       "the mesh shape (2, 2) has 2 dimensions but its axis names are (x); "
                       "give one name per dimension",
                       ShardingError);
  CHECK_THROWS_WITH_AS(Mesh({0, 1}, {2}, {"x", "y"}),
                       "the mesh shape (2,) has 1 dimension but its axis names are (x, y); "
                       "give one name per dimension",
                       ShardingError);
}

TEST_CASE("a place outside the mesh is refused") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK_THROWS_WITH_AS((void)mesh.device_at(8),
                       "position 8 is outside Mesh(x=2, y=4), which has 8 places", IndexError);
  CHECK_THROWS_WITH_AS((void)mesh.coordinates(-1),
                       "position -1 is outside Mesh(x=2, y=4), which has 8 places", IndexError);
  CHECK_THROWS_WITH_AS(
      (void)mesh.position({0, 4}),
      "the coordinates (0, 4) lie outside Mesh(x=2, y=4): mesh axis 'y' has size 4", IndexError);
  CHECK_THROWS_WITH_AS((void)mesh.position({1}),
                       "the coordinates (1,) do not fit Mesh(x=2, y=4), which has 2 axes",
                       IndexError);
}

TEST_SUITE_END();
