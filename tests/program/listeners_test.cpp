#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/products.hpp"

#include "src/base/text.hpp"
#include "src/runtime/listener.hpp"

#include "line.hpp"

// What listeners hear of loops, products and partial arrays.

using namespace tessera;
using test::heat;
using test::line;

TEST_SUITE_BEGIN("program/listeners");

namespace {

using Events = std::vector<std::string>;

// Writes down what it is told.
class Notes final : public Listener {
 public:
  void note(Statement const& statement) override { events.emplace_back(statement.kind); }
  void note(Operation const& operation) override { events.emplace_back(operation.kind); }
  void note(ReplayedSteps const& steps) override {
    if (refuses_steps) throw std::runtime_error("refused");
    events.push_back(text("steps ", steps.first, " to ", steps.first + steps.count, " of ",
                          counted(std::ssize(steps.statements), "statement")));
  }
  [[nodiscard]] bool note(KeptValue const& kept) override {
    CHECK(kept.partial.partials()->value == nullptr);
    events.emplace_back("value");
    return hears_parts;
  }
  void note_move(std::shared_ptr<ArrayModel> const& /*array*/) noexcept override { ++moves; }
  void note_host_access() override {
    if (refuses_access) throw std::runtime_error("refused");
    events.emplace_back("access");
  }
  [[nodiscard]] std::string_view reason_to_run_bodies() const override {
    return hears_parts ? "a test hears every statement" : "";
  }

  Events events;
  int moves = 0;
  bool hears_parts = false;
  bool refuses_access = false;
  bool refuses_steps = false;
};

}  // namespace

TEST_CASE("a loop is heard as its first steps and then as one thing") {
  auto plain = line(50);
  for (int s = 0; s < 30; ++s) heat(plain);
  auto u = line(50);
  auto program = record([&] { heat(u); });

  Notes notes;
  program.run(20);
  CHECK(notes.events == Events{"assignment", "assignment", "steps 2 to 20 of 1 statement"});
  CHECK(program.explain().mode == LoopMode::in_blocks);
  notes.events.clear();
  program.run(10);
  CHECK(notes.events == Events{"assignment", "steps 21 to 30 of 1 statement"});
  notes.events.clear();
  CHECK(u.to_host() == plain.to_host());
  CHECK(notes.events.front() == "access");
}

TEST_CASE("the body of a loop runs in every step for a listener that needs all statements") {
  auto u = line(50);
  Notes notes;
  notes.hears_parts = true;
  auto program = record([&] { heat(u); });
  program.run(5);
  CHECK(notes.events == Events(5, "assignment"));
  CHECK(text(program.explain()).find("not recorded, since a test hears every statement") !=
        std::string::npos);
}

TEST_CASE("a listener that a body makes hears all later steps") {
  auto u = line(50);
  std::optional<Notes> notes;
  iterate(9, [&] {
    if (!notes) notes.emplace().hears_parts = true;
    heat(u);
  });
  CHECK(notes->events == Events(9, "assignment"));
}

TEST_CASE("after a listener has refused steps, the others hear and the program goes on") {
  auto plain = line(50);
  for (int s = 0; s < 2 + 9; ++s) heat(plain);
  auto u = line(50);
  auto program = record([&] { heat(u); });
  Notes older;
  {
    Notes younger;
    younger.refuses_steps = true;
    CHECK_THROWS_AS(program.run(9), std::runtime_error);
    CHECK(younger.events == Events(2, "assignment"));
  }
  CHECK(older.events == Events(2, "assignment"));
  program.run(9);
  CHECK(older.events.back() == "steps 3 to 11 of 1 statement");
  CHECK(u.to_host() == plain.to_host());
}

TEST_CASE("a loop around a loop is heard as one thing, and the inner one as its statements") {
  auto u = line(50);
  Notes notes;
  iterate(6, [&] { iterate(3, [&] { heat(u); }); });
  Events expected(6, "assignment");
  expected.emplace_back("steps 2 to 6 of 3 statements");
  CHECK(notes.events == expected);
}

TEST_CASE("a product is heard as one thing, and a loop of products as one") {
  Mesh const mesh({{"x", device_count()}});
  NamedSharding const rows(mesh, P("x", none));
  NamedSharding const columns(mesh, P(none, "x"));
  std::int64_t const n = 40;
  auto const difference = [](auto i) { return 0.01 * static_cast<double>(i[0] - i[1]); };
  auto const a = from_index<double>({n, n}, columns, difference);
  auto b = from_index<double>({n, n}, rows, difference);
  auto c = zeros<double>({n, n}, rows);
  DistArray plain(b);
  auto const step = [&](auto& into) {
    matmul_into(c, a, into);
    into(all, all) = 0.5 * c;
  };
  for (int s = 0; s < 8; ++s) step(plain);

  Notes notes;
  auto program = record([&] { step(b); });
  program.run(8);
  REQUIRE(notes.events.size() == 5);
  CHECK(notes.events[0] == "matmul_into");
  CHECK(notes.events[1] == "assignment");
  CHECK(notes.events[2] == "matmul_into");
  CHECK(notes.events[3] == "assignment");
  CHECK(notes.events[4].starts_with("steps 2 to 8"));
  CHECK(b.to_host() == plain.to_host());
}

TEST_CASE("what the library does to record a loop is no access of the program") {
  auto u = line(50);
  Notes notes;
  iterate(9, [&] {
    auto v = 2.0 * u;
    DistArray w = v - u;
    u = std::move(w);
  });
  CHECK(notes.moves > 0);
  CHECK(std::ranges::find(notes.events, "access") == notes.events.end());
}

TEST_CASE("all listeners hear, the youngest first, until they end") {
  auto u = line(50);
  Notes older;
  {
    Notes younger;
    heat(u);
    CHECK(younger.events == Events{"assignment"});
    younger.refuses_access = true;
    CHECK_THROWS_AS(synchronize(), std::runtime_error);
    CHECK(older.events == Events{"assignment"});
  }
  synchronize();
  heat(u);
  CHECK(older.events == Events{"assignment", "access", "assignment"});
}

TEST_CASE("listeners that do not end in turn leave the others in place") {
  auto u = line(50);
  auto first = std::make_unique<Notes>();
  Notes second;
  auto third = std::make_unique<Notes>();
  first.reset();
  heat(u);
  CHECK(second.events.size() == 1);
  CHECK(third->events.size() == 1);
  third.reset();
  heat(u);
  CHECK(second.events.size() == 2);
}

TEST_CASE("the value of a partial array is heard as one thing, by who wants so") {
  Mesh const mesh({{"x", device_count()}});
  auto const v = full<double>({8}, 2.0, {mesh, P(none)});
  auto w = full<double>({8}, 0.0, {mesh, P(none)});
  auto const parts = to_partial(v, {"x"});
  auto const later_parts = to_partial(v, {"x"});

  Notes whole;
  Notes detailed;
  detailed.hears_parts = true;
  w = w + parts;
  w = w + parts;
  CHECK(whole.events == Events{"value", "assignment", "assignment"});
  REQUIRE(detailed.events.size() >= 4);
  CHECK(detailed.events[0] == "value");
  CHECK(detailed.events[1] == "add up");
  CHECK(detailed.events.back() == "assignment");

  // A loop's recorder ignores it, as the listener beside it does.
  whole.events.clear();
  detailed.hears_parts = false;
  iterate(6, [&] { w = w + later_parts; });
  CHECK(whole.events == Events{"value", "assignment", "assignment", "steps 2 to 6 of 1 statement"});
  CHECK(w.to_host() == std::vector<double>(8, 16.0));
}

TEST_SUITE_END();
