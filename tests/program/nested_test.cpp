#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "support/agree.hpp"

#include "line.hpp"

// What a body may do with programs: run others, but not run, replace or destroy its own.

using namespace tessera;
using test::heat;
using test::line;

TEST_SUITE_BEGIN("program/nested");

namespace {

std::vector<double> cells_after(int steps) {
  auto u = line(23);
  for (int s = 0; s < steps; ++s) heat(u);
  return u.to_host();
}

std::string refusal_of(std::function<void()> const& call) {
  try {
    call();
  } catch (UsageError const& error) {
    return error.what();
  }
  return "no error";
}

bool says(std::string const& text, std::string const& what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a program that its own body runs is refused before anything is done, and goes on") {
  for (int const before : {0, 2, 9}) {  // never run, run plainly, recorded
    CAPTURE(before);
    auto u = line(23);
    bool runs_itself = false;
    std::optional<Program> program;
    program.emplace(record([&] {
      if (runs_itself) program->run(5);
      heat(u);
    }));
    program->run(before);
    auto const count = counters().statements;

    runs_itself = true;
    for (int const steps : {1, 5})
      CHECK_ALL(says(refusal_of([&] { program->run(steps); }), "runs its own program"));
    CHECK_ALL(counters().statements == count);
    CHECK_ALL(program->steps() == before);

    runs_itself = false;
    program->run(7);
    CHECK(program->steps() == before + 7);
    CHECK(u.to_host() == cells_after(before + 7));
  }
}

TEST_CASE("a body that catches the refusal goes on") {
  auto u = line(23);
  int refused = 0;
  std::optional<Program> program;
  program.emplace(record([&] {
    heat(u);
    if (says(refusal_of([&] { program->run(1); }), "runs its own program")) ++refused;
  }));
  program->run(6);
  CHECK_ALL(refused >= 2);
  CHECK(u.to_host() == cells_after(6));
}

TEST_CASE("two programs whose bodies run each other are refused") {
  auto u = line(23);
  std::optional<Program> one;
  std::optional<Program> other;
  one.emplace(record([&] { other->run(2); }));
  other.emplace(record([&] {
    heat(u);
    one->run(2);
  }));
  CHECK_ALL(says(refusal_of([&] { one->run(4); }), "runs its own program"));
  CHECK_ALL(says(refusal_of([&] { other->run(1); }), "runs its own program"));
  CHECK(u.to_host() == cells_after(2));
}

TEST_CASE("a program that its own body destroys ends after that step") {
  for (int const before : {0, 2, 9})
    for (int const steps : {1, 5}) {
      CAPTURE(before);
      CAPTURE(steps);
      auto u = line(23);
      bool destroys = false;
      std::optional<Program> program;
      program.emplace(record([&] {
        if (destroys) program.reset();
        heat(u);
      }));
      program->run(before);

      destroys = true;
      CHECK_ALL(says(refusal_of([&] { program->run(steps); }), "destroyed or replaced its own"));

      CHECK_ALL(!program);
      CHECK(u.to_host() == cells_after(before + 1));
    }
}

TEST_CASE("a program that its own body replaces ends after that step, and the new one runs") {
  auto u = line(23);
  auto program = record([] {});
  program = record([&] {
    heat(u);
    program = record([&] { heat(u); });
  });
  CHECK_ALL(says(refusal_of([&] { program.run(5); }), "destroyed or replaced its own"));
  program.run(5);
  CHECK(program.steps() == 5);
  CHECK(u.to_host() == cells_after(6));
}

TEST_CASE("a program that its own body moves goes on") {
  auto u = line(23);
  std::optional<Program> other;
  auto program = record([] {});
  program = record([&] {
    heat(u);
    if (!other) other.emplace(std::move(program));
  });
  program.run(6);
  CHECK(other->steps() == 6);
  CHECK(u.to_host() == cells_after(6));
  CHECK_ALL(says(refusal_of([&] { program.run(1); }), "was moved from"));
  CHECK_ALL(says(refusal_of([&] { (void)program.explain(); }), "was moved from"));
}

TEST_CASE("a program recorded inside another one's body is part of it") {
  auto u = line(23);
  iterate(4, [&] {
    auto inner = record([&] { heat(u); });
    inner.run(3);
    inner.run(1);
  });
  CHECK(u.to_host() == cells_after(16));
}

TEST_CASE("loops with intervals inside a body are part of it, unless they read cells") {
  auto u = line(23);
  iterate(4, [&] {
    std::int64_t reports = 0;
    iterate(
        4, [&] { heat(u); }, every(2), [&](std::int64_t) { ++reports; });
    auto const done = iterate_until(
        6, [&] { heat(u); }, every(1), [&] { return reports == 2; });
    CHECK(done == 1);
  });
  CHECK(u.to_host() == cells_after(20));

  auto const reads = [&] {
    iterate_until(
        6, [&] { heat(u); }, every(1), [&] { return max(u) < 0.01; });
  };
  CHECK_ALL(says(refusal_of([&] { iterate(4, reads); }), "on the host"));
  iterate(2, reads);  // fewer than three steps are simply run
}

TEST_SUITE_END();
