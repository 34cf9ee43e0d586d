#include <cstdint>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

// Values of reductions, and arrays without dimensions, that change from step to step on the
// devices.

using namespace tessera;

TEST_SUITE_BEGIN("program/scalars");

namespace {

constexpr std::int64_t cells = 40;

NamedSharding pieces() {
  return {Mesh({{"x", device_count()}}), P("x")};
}

DistArray<double, 1> bumps() {
  return from_index<double>({cells}, pieces(),
                            [](auto i) { return 1.0 / static_cast<double>(i[0] + 1); });
}

// Conjugate gradients for -u" = f with both ends at 0.
struct Solver {
  DistArray<double, 1> x = zeros<double>({cells}, pieces());
  DistArray<double, 1> r = bumps();
  DistArray<double, 1> p = r;
  DistArray<double, 1> q = zeros<double>({cells}, pieces());
  Scalar<double> rr = sum(r * r);

  void step() {
    q = 2.0 * p - shift(p, {1}, constant(0.0)) - shift(p, {-1}, constant(0.0));
    auto const pq = sum(p * q);
    x = x + (rr / pq) * p;
    r = r - (rr / pq) * q;
    auto const next = sum(r * r);
    p = r + (next / rr) * p;
    rr = next;
  }
};

}  // namespace

TEST_CASE("sums of one step are numbers of the next") {
  for (auto const steps : {1, 2, 3, 7, 20}) {
    CAPTURE(steps);
    Solver plain, recorded;
    for (int s = 0; s < steps; ++s) plain.step();
    auto program = record([&] { recorded.step(); });
    program.run(steps / 2);
    program.run(steps - steps / 2);
    CHECK(recorded.x.to_host() == plain.x.to_host());
    CHECK(recorded.rr.value() == plain.rr.value());
  }
}

TEST_CASE("a loop ends when a sum of its arrays is small") {
  Solver solver;
  auto const steps = iterate_until(
      4 * cells, [&] { solver.step(); }, every(10), [&] { return solver.rr < 1e-20; });
  CHECK(steps <= 2 * cells);
  // The matrix has 2 on its diagonal and -1 beside it.
  auto const x = solver.x.to_host();
  for (std::size_t i = 1; i + 1 < x.size(); ++i)
    CHECK(2 * x[i] - x[i - 1] - x[i + 1] ==
          doctest::Approx(1.0 / static_cast<double>(i + 1)).epsilon(1e-6));
}

TEST_CASE("a power iteration divides by the norm of each step") {
  auto plain = bumps(), recorded = bumps();
  auto const step = [](auto& u) {
    u = shift(u, {1}, constant(0.0)) + 2.0 * u + shift(u, {-1}, constant(0.0));
    u = u / sqrt(sum(u * u));
  };
  for (int s = 0; s < 25; ++s) step(plain);
  iterate(25, [&] { step(recorded); });
  CHECK(recorded.to_host() == plain.to_host());
}

TEST_CASE("an array without dimensions changes from step to step") {
  NamedSharding const everywhere(Mesh({{"x", device_count()}}), P());
  auto const run = [&](auto const& loop) {
    auto u = bumps();
    auto rate = full<double, 0>({}, 1.0, everywhere);
    loop([&] {
      u = u + rate * (roll(u, 1) - u);
      rate = 0.5 * rate;
    });
    return u.to_host();
  };
  auto const plain = run([](auto const& body) {
    for (int s = 0; s < 9; ++s) body();
  });
  CHECK(run([](auto const& body) { iterate(9, body); }) == plain);
}

TEST_CASE("a scalar that is made of others keeps a loop plain, with the same values") {
  auto const run = [](auto const& loop) {
    auto u = bumps();
    Scalar<double> factor = sum(u);
    loop([&] {
      u = u + 0.5 * (roll(u, 1) - u);
      Scalar<double> const next = factor / (1.0 + sum(u * u));
      u = u * next;
      factor = next;
    });
    auto cells_and_factor = u.to_host();
    cells_and_factor.push_back(factor);
    return cells_and_factor;
  };
  auto const plain = run([](auto const& body) {
    for (int s = 0; s < 9; ++s) body();
  });
  CHECK(run([](auto const& body) {
          auto program = record(body);
          program.run(9);
          std::ostringstream said;
          said << program.explain();
          CHECK(said.str().find("a Scalar is made of others") != std::string::npos);
        }) == plain);
}

TEST_CASE("a scalar that is made of a cell changes from step to step") {
  auto const run = [](auto const& loop) {
    auto u = bumps();
    loop([&] {
      Scalar<double> const edge = 0.5 * u(0);
      u = u + edge * (roll(u, 1) - u);
    });
    return u.to_host();
  };
  auto const plain = run([](auto const& body) {
    for (int s = 0; s < 9; ++s) body();
  });
  CHECK(run([](auto const& body) { iterate(9, body); }) == plain);
}

TEST_CASE("a statement is not said to stand where its scalars were made") {
  auto u = bumps();
  auto const total = sum(u);
  auto const said = explain([&] { u = u / total; });
  CHECK_FALSE(said.statements.at(0).location.known());
}

TEST_SUITE_END();
