#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/inline_vector");

using Four = InlineVector<int, 4>;

TEST_CASE("items are pushed, read, changed and taken out again") {
  Four list{5, 6};
  list.push_back(7);
  list[0] = 4;

  CHECK(list == Four{4, 6, 7});
  CHECK(list.size() == 3);
  CHECK(list.back() == 7);
  list.pop_back();
  CHECK(list == Four{4, 6});
  list.clear();
  CHECK(list.empty());
  CHECK(Four::capacity() == 4);
}

TEST_CASE("a vector is made of a count and a value, of a list, or of another range") {
  std::vector<short> const source{1, 2, 3};

  CHECK(Four(3, 9) == Four{9, 9, 9});
  CHECK(Four{3, 9}.size() == 2);
  CHECK(Four(source.begin(), source.end()) == Four{1, 2, 3});
  CHECK(Four() == Four{});
}

TEST_CASE("resizing fills new items and forgets old ones") {
  Four list{1, 2, 3};
  list.resize(1);
  list.resize(3, 8);

  CHECK(list == Four{1, 8, 8});
}

TEST_CASE("items past the size do not count when vectors are compared") {
  Four a{1, 2, 3};
  a.pop_back();

  CHECK(a == Four{1, 2});
  CHECK(a != Four{1, 2, 3});
}

TEST_CASE("vectors are ordered as words in a dictionary") {
  CHECK(Four{1, 2} < Four{1, 3});
  CHECK(Four{1, 2} < Four{1, 2, 0});
  CHECK(Four{} < Four{0});
  CHECK(Four{2} > Four{1, 9, 9});
}

TEST_CASE("a vector prints as a tuple of Python") {
  CHECK(text(Four{}) == "()");
  CHECK(text(Four{7}) == "(7,)");
  CHECK(text(Four{7, 8}) == "(7, 8)");
}

TEST_CASE("a list with more items than fit is refused") {
  CHECK_THROWS_WITH_AS((Four{1, 2, 3, 4, 5}),
                       "a list of 5 items where at most 4 fit; arrays and meshes have at most 8 "
                       "dimensions",
                       UsageError);
}

TEST_CASE("vectors work in constant expressions") {
  constexpr auto sum = [] {
    Four list{1, 2};
    list.push_back(3);
    int total = 0;
    for (int const item : list) total += item;
    return total;
  }();

  CHECK(sum == 6);
}

TEST_CASE("structs whose members have values are added, copied and compared like numbers") {
  struct Stop {
    int place = -1;
    std::int64_t minutes = 5;
    bool operator==(Stop const&) const = default;
  };
  InlineVector<Stop, 4> line;
  line.push_back({3, 20});
  line.resize(3);

  auto const copy = line;
  std::move(line.begin() + 1, line.end(), line.begin());
  line.pop_back();

  CHECK(copy.size() == 3);
  CHECK((copy[0] == Stop{3, 20}));
  CHECK((copy.back() == Stop{}));
  CHECK((line[0] == copy[1]));
}

TEST_CASE("a list moves what it is given to keep") {
  detail::StackList<std::unique_ptr<int>, 3> owners;
  auto two = std::make_unique<int>(2);
  owners.emplace_back(std::make_unique<int>(1));
  owners.push_back(std::move(two));

  REQUIRE(owners.size() == 2);
  CHECK(*owners[0] == 1);
  CHECK(*owners[1] == 2);
}

TEST_CASE("a list copies what others keep") {
  auto const shared = std::make_shared<int>(7);
  detail::StackList<std::shared_ptr<int>, 3> list;
  list.push_back(shared);
  list.emplace_back(shared);
  auto const copy = list;

  CHECK(shared.use_count() == 5);
  list.clear();
  CHECK(shared.use_count() == 3);
}

TEST_SUITE_END();
