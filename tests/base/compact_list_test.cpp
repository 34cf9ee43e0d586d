#include "src/base/compact_list.hpp"

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"

using namespace tessera;

/// Lists that keep what repeats in equal steps once read like lists of all their entries.
TEST_SUITE_BEGIN("base/compact_list");

namespace {

struct Entry {
  std::int64_t place = 0;
  std::size_t number = 0;
  int form = 'a';

  template <class Visit>
  void visit_steps(Visit const& visit) {
    visit(place);
    visit(number);
  }
  friend bool operator==(Entry const&, Entry const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Entry const& entry) {
    return out << static_cast<char>(entry.form) << entry.place << '/' << entry.number;
  }
};

/// With as many numbers as it likes.
struct Ragged {
  InlineVector<std::int64_t, 4> numbers;

  template <class Visit>
  void visit_steps(Visit const& visit) {
    for (auto& number : numbers) visit(number);
  }
  friend bool operator==(Ragged const&, Ragged const&) = default;
};

template <class T>
CompactList<T> compact_of(std::vector<T> const& entries) {
  CompactList<T> list;
  for (auto const& entry : entries) list.push_back(entry);
  list.compact();
  return list;
}

std::vector<Entry> boxes(std::int64_t count) {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < count; ++i)
    entries.push_back({1000 - 3 * i, static_cast<std::size_t>(5 + i)});
  return entries;
}

void check_same(CompactList<Entry> const& list, std::vector<Entry> const& entries) {
  REQUIRE(list.size() == entries.size());
  std::size_t i = 0;
  for (auto const& entry : list) REQUIRE(entry == entries[i++]);
  REQUIRE(i == entries.size());
  for (i = 0; i < entries.size(); ++i) {
    REQUIRE(list[i] == entries[i]);
    REQUIRE(CompactList<Entry>::Iterator(list, i).kept().form == entries[i].form);
  }
}

std::int64_t bytes_of(std::vector<Entry> const& entries) {
  return static_cast<std::int64_t>(entries.size() * sizeof(Entry));
}

}  // namespace

TEST_CASE("entries in equal steps take the memory of one") {
  auto const entries = boxes(10'000);
  auto const list = compact_of(entries);

  check_same(list, entries);
  CHECK(list.is_compact());
  CHECK(list.size_bytes() < 100);
  CHECK(list.front() == entries.front());
}

TEST_CASE("a short list keeps its entries, and so does one that was not made compact") {
  check_same(compact_of(boxes(0)), {});
  CHECK(compact_of(boxes(0)).empty());
  check_same(compact_of(boxes(7)), boxes(7));
  CHECK_FALSE(compact_of(boxes(7)).is_compact());
  CHECK(compact_of(boxes(7)).size_bytes() == bytes_of(boxes(7)));

  CompactList<Entry> const filled{{1, 2, 'x'}, {3, 4, 'y'}};
  check_same(filled, {{1, 2, 'x'}, {3, 4, 'y'}});
}

TEST_CASE("groups of entries repeat, each of them in steps of its own") {
  std::vector<Entry> entries{{7, 7, 'z'}};
  for (std::int64_t i = 0; i < 500; ++i) {
    entries.push_back({i, 2, 'a'});
    entries.push_back({-i, static_cast<std::size_t>(10 * i), 'a'});
    entries.push_back({0, 0, 'b'});
  }
  entries.push_back({500, 2, 'a'});

  auto const list = compact_of(entries);

  check_same(list, entries);
  CHECK(list.size_bytes() < 500);
}

TEST_CASE("a step down of an unsigned number is a step") {
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < 100; ++i) entries.push_back({0, 100 - i});

  check_same(compact_of(entries), entries);
  CHECK(compact_of(entries).size_bytes() < 100);
}

TEST_CASE("another form, or another step, ends what repeats") {
  auto entries = boxes(100);
  entries[40].form = 'b';
  entries[80].place += 1;

  auto const list = compact_of(entries);

  check_same(list, entries);
  CHECK(list.size_bytes() < bytes_of(entries) / 4);
}

TEST_CASE("entries with different counts of numbers stay as they are") {
  std::vector<Ragged> entries(50);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].numbers.resize(1 + i % 2, 3);

  auto const list = compact_of(entries);

  CHECK_FALSE(list.is_compact());
  for (std::size_t i = 0; i < entries.size(); ++i) CHECK(list[i] == entries[i]);
}

TEST_CASE("entries of many forms keep them") {
  auto entries = boxes(200);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].form = static_cast<int>(i);

  check_same(compact_of(entries), entries);
  CHECK_FALSE(compact_of(entries).is_compact());
}

TEST_CASE("a group has up to 64 entries") {
  for (std::size_t const group : {4U, 63U, 64U, 65U}) {
    CAPTURE(group);
    std::mt19937 random(3);
    std::vector<Entry> entries;
    for (std::size_t i = 0; i < 5 * group; ++i)
      entries.push_back(i < group ? Entry{static_cast<std::int64_t>(random()), random()}
                                  : Entry{entries[i - group].place + 7, entries[i - group].number});

    check_same(compact_of(entries), entries);
    CHECK(compact_of(entries).is_compact() == (group <= longest_group));
  }
}

TEST_CASE("a list that would take more memory stays plain") {
  std::vector<Entry> entries;
  for (std::int64_t i = 0; i < 100; ++i) entries.push_back({i % 4 == 3 ? i * i * i : i, 0});

  check_same(compact_of(entries), entries);
  CHECK(compact_of(entries).size_bytes() <= bytes_of(entries));
}

TEST_CASE("copies and moves have the entries, and a list that was moved from has none") {
  auto const entries = boxes(50);
  auto list = compact_of(entries);

  auto const copy = list;
  auto const moved = std::move(list);

  check_same(copy, entries);
  check_same(moved, entries);
  CHECK(list.empty());  // NOLINT: that is what is tested
  CHECK(list.size() == 0);
}

TEST_CASE("an iterator can begin anywhere, and knows another one at its place") {
  auto const list = compact_of(boxes(50));
  CompactList<Entry>::Iterator at(list, 20);

  CHECK(at->number == 25);
  CHECK(at.kept().number == 5);
  at++;
  CHECK(*at == boxes(50)[21]);
  CHECK(at == CompactList<Entry>::Iterator(list, 21));
  CHECK_FALSE(at == list.begin());
}

TEST_CASE("what never repeats takes no more than its entries") {
  std::mt19937 random(7);
  std::vector<Entry> entries;
  for (int i = 0; i < 3000; ++i)
    entries.push_back(
        {static_cast<std::int64_t>(random()), random(), static_cast<int>(random() % 100)});

  auto const list = compact_of(entries);

  check_same(list, entries);
  CHECK(list.size_bytes() == bytes_of(entries));
}

TEST_CASE("random stretches of groups read as they were written") {
  std::mt19937 random(11);
  auto const below = [&](unsigned count) { return static_cast<std::int64_t>(random() % count); };
  for (int round = 0; round < 300; ++round) {
    std::vector<Entry> entries;
    for (auto stretches = 1 + below(5); stretches > 0; --stretches) {
      std::vector<Entry> group(static_cast<std::size_t>(1 + below(4)));
      std::vector<std::int64_t> steps(group.size());
      for (auto& entry : group) entry = {below(9), random() % 9, 'a' + static_cast<int>(below(2))};
      for (auto& step : steps) step = below(5) - 2;
      for (auto times = below(40); times > 0; --times)
        for (std::size_t e = 0; e < group.size(); ++e) {
          entries.push_back(group[e]);
          group[e].place += steps[e];
        }
    }

    check_same(compact_of(entries), entries);
  }
}

TEST_SUITE_END();
