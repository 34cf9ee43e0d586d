#include "tessera/mesh/group.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

using namespace tessera;

/// Groups of devices: who has which rank in which list.
TEST_SUITE_BEGIN("mesh/group");

namespace {

Mesh grid() {
  return Mesh({{"data", 2}, {"model", 4}});
}

// The devices of each list by rank, and what `member` says of each.
std::string lists_of(Group const& group) {
  std::vector<std::string> lists;
  for (std::int64_t list = 0; list < group.count(); ++list) {
    std::vector<std::int64_t> devices;
    for (std::int64_t rank = 0; rank < group.size(); ++rank) {
      auto const device = group.device(rank, list);
      CHECK(group.member(device) == Member{rank, list, device});
      devices.push_back(device.value());
    }
    lists.push_back(join(devices));
  }
  return join(lists, "", "", " | ");
}

template <class Make>
std::string refused(Make const& make) {
  try {
    make();
  } catch (ShardingError const& error) {
    return error.what();
  } catch (IndexError const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a mesh axis makes one list for each place along the other axes") {
  CHECK(lists_of(grid().group("model")) == "0, 1, 2, 3 | 4, 5, 6, 7");
  CHECK(lists_of(grid().group("data")) == "0, 4 | 1, 5 | 2, 6 | 3, 7");
  CHECK(lists_of(grid().group({"data", "model"})) == "0, 1, 2, 3, 4, 5, 6, 7");
  CHECK(lists_of(grid().group({"model", "data"})) == "0, 4, 1, 5, 2, 6, 3, 7");

  Mesh const cube({{"x", 2}, {"y", 2}, {"z", 2}});
  CHECK(lists_of(cube.group({"z", "x"})) == "0, 4, 1, 5 | 2, 6, 3, 7");
  CHECK(lists_of(Mesh({5, 2, 7, 0}, {2, 2}, {"x", "y"}).group("x")) == "5, 7 | 2, 0");
}

TEST_CASE("a list of devices is in the order of its ranks") {
  Group const pair({3, 1});
  CHECK(lists_of(pair) == "3, 1");
  CHECK(pair.size() == 2);
  CHECK(pair.count() == 1);
  CHECK_FALSE(pair.member(DeviceId{0}).has_value());

  auto const two = Group::lists({{6, 0, 2}, {1, 5, 3}});
  CHECK(lists_of(two) == "6, 0, 2 | 1, 5, 3");
  CHECK_FALSE(two.member(DeviceId{4}).has_value());
  CHECK(lists_of(Group({5})) == "5");
}

TEST_CASE("equal groups have the same devices with the same ranks") {
  CHECK(grid().group("model") == Group(grid(), "model"));
  CHECK_FALSE(grid().group("model") == grid().group("data"));
  CHECK(Group({3, 1}) == Group::lists({{3, 1}}));
  CHECK_FALSE(Group({3, 1}) == Group({1, 3}));
  CHECK(grid().group("data") == Group::lists({{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  CHECK_FALSE(grid().group("data") == Group::lists({{0, 4, 1, 5}, {2, 6, 3, 7}}));
  CHECK(text(*Group({3, 1}).member(DeviceId{1})) == "rank 1 of list 0, device 1");
}

TEST_CASE("a group is printed as it was made") {
  CHECK(text(Group({3, 1})) == "Group(3, 1)");
  CHECK(text(Group::lists({{0, 1}, {2, 3}})) == "Group((0, 1), (2, 3))");
  CHECK(text(grid().group("model")) == "Group(Mesh(data=2, model=4), \"model\")");

  std::vector<std::int64_t> many;
  for (std::int64_t id = 0; id < 100; ++id) many.push_back(id);
  CHECK(text(Group(many)) == "Group(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, ...)");
}

TEST_CASE("a group along an axis of a mesh has no list of devices, however many there are") {
  constexpr std::int64_t many = std::int64_t{1} << 30;
  auto const group = Mesh({{"x", many}, {"y", many}}).group("y");

  CHECK(group.device(many - 1, 7) == DeviceId{8 * many - 1});
  CHECK(group.member(DeviceId{5 * many + 3}) == Member{3, 5, DeviceId{5 * many + 3}});
}

TEST_CASE("groups that make no sense are refused") {
  CHECK(refused([] { Group(std::vector<std::int64_t>{}); }) ==
        "list 0 of a group has no devices; give one or more");
  CHECK(refused([] { (void)Group::lists({}); }) ==
        "a group has no list of devices; Group::lists({{0, 1}, {2, 3}}) has two");
  CHECK(refused([] {
          (void)Group::lists({{0, 1}, {2}});
        }) == "list 1 of a group has 1 device but list 0 has 2; lists of a group are equally long");
  CHECK(refused([] { Group({0, 1, 0}); }).find("device 0") != std::string::npos);
  CHECK(refused([] { Group({0, -1}); }).find("-1") != std::string::npos);
  CHECK(refused([] { (void)grid().group(none); }) ==
        "a group along no axis of Mesh(data=2, model=4); name one or more");
  CHECK(refused([] {
          (void)grid().group({"data", "data"});
        }) == "a group names mesh axis 'data' twice");
  CHECK(refused([] { (void)grid().group("tensor"); }).find("'tensor'") != std::string::npos);
  CHECK(refused([] {
          (void)Group({3, 1}).device(2);
        }) == "there is no rank 2 in Group(3, 1), whose members have ranks 0 to 1");
  CHECK(refused([] {
          (void)Group({3, 1}).device(0, 1);
        }) == "there is no list 1 in Group(3, 1), which has 0 to 0");
}

TEST_SUITE_END();
