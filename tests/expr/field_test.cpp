#include "tessera/array/field.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/reduce.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Members of arrays of structs.
TEST_SUITE_BEGIN("expr/field");

namespace {

struct Speed {
  float x;
  float y;
};

struct Particle {
  double mass;
  std::int32_t number;
  Speed speed;

  friend bool operator==(Particle const& a, Particle const& b) {
    return a.mass == b.mass && a.number == b.number && a.speed.x == b.speed.x &&
           a.speed.y == b.speed.y;
  }
};

using Doubles = std::vector<double>;
using Integers = std::vector<std::int32_t>;
using Floats = std::vector<float>;

Particle particle(std::int64_t k) {
  return {0.1 * static_cast<double>(k),
          static_cast<std::int32_t>(10 * k),
          {static_cast<float>(k), -1.5F}};
}

DistArray<Particle, 1> particles(std::int64_t count, std::int64_t devices) {
  return from_index<Particle>({count}, over(devices), [](auto i) { return particle(i[0]); });
}

template <auto member, class E>
auto values_of(E const& e) {
  return DistArray(field<member>(e)).to_host();
}

}  // namespace

TEST_CASE("a member is an operand of its own type") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto const u = particles(5, devices);
    static_assert(std::is_same_v<decltype(field<&Particle::number>(u))::value_type, std::int32_t>);

    CHECK_ALL(values_of<&Particle::mass>(u) == Doubles{0, 0.1, 0.2, 0.1 * 3, 0.4});
    CHECK_ALL(holds(DistArray(field<&Particle::number>(u) + 1), Integers{1, 11, 21, 31, 41}));
    CHECK_ALL(
        holds(DistArray(field<&Speed::x>(field<&Particle::speed>(u))), Floats{0, 1, 2, 3, 4}));
    std::int32_t const one = field<&Particle::number>(u(3));
    CHECK_ALL(one == 30);
  }
}

TEST_CASE("members of slices, neighbours and transposes") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const u = particles(5, devices);
    constexpr auto number = &Particle::number;

    CHECK_ALL(values_of<number>(u(range(4, 0, -2))) == Integers{40, 20});
    CHECK_ALL(values_of<number>(shift(u, 1, periodic)) == Integers{10, 20, 30, 40, 0});
    CHECK_ALL(values_of<number>(shift(u, -2, constant(Particle{0, 7, {}}))) ==
              Integers{7, 7, 0, 10, 20});
    CHECK_ALL(values_of<number>(u(newaxis, tessera::all)) == Integers{0, 10, 20, 30, 40});
    CHECK_ALL(values_of<number>(where(field<number>(u) > 15, u, u(range(0, 1)))) ==
              Integers{0, 0, 20, 30, 40});
  }
  auto const u = particles(4, 4);
  CHECK_ALL_THROW((void)shift(u, 1, constant(Speed{})), UsageError);
  CHECK_ALL_THROW((void)shift(u, 1, constant(0)), UsageError);
}

TEST_CASE("writing a member leaves the others as they are") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto u = particles(6, devices);
    auto const masses = iota<double>({6}, over(2));

    field<&Particle::mass>(u) = 0.5 * masses + 1;
    field<&Particle::number>(u(range(1, none, 2))) = -1;
    field<&Particle::speed>(u(5)) = Speed{8, 9};
    field<&Particle::mass>(u(range(0, 2))) = field<&Particle::number>(u(range(2, 4)));
    field<&Particle::mass>(u(range(4, 6))) = field<&Particle::mass>(u(range(1, 3)));

    std::vector<Particle> wanted;
    for (std::int64_t k = 0; k < 6; ++k) {
      wanted.push_back(particle(k));
      wanted.back().mass = 0.5 * static_cast<double>(k) + 1;
      if (k % 2 == 1) wanted.back().number = -1;
    }
    wanted[5].speed = {8, 9};
    wanted[0].mass = 20;
    wanted[1].mass = wanted[4].mass = -1;
    wanted[5].mass = 2;
    CHECK_ALL(u.to_host() == wanted);
  }
}

TEST_CASE("a member is added to, multiplied and divided in place") {
  for (std::int64_t const devices : {1, 2, 3, 8}) {
    CAPTURE(devices);
    auto u = particles(6, devices);
    auto const ones = full<double>({6}, 1.0, over(2));

    field<&Particle::mass>(u) += ones;
    field<&Particle::mass>(u(range(1, 4))) -= field<&Particle::mass>(u(range(0, 3)));
    field<&Particle::mass>(u(range(4, 6))) *= 3;
    field<&Particle::mass>(u(5)) /= 2.0;
    field<&Particle::number>(u(range(none, none, -2))) %= 7;

    // Masses 1, 1.1, 1.2, 0.1 * 3 + 1, 1.4, 1.5 before what is done to some of them.
    auto const before = [](int k) { return 0.1 * k + 1; };
    CHECK_ALL(values_of<&Particle::mass>(u) == Doubles{1, before(1) - before(0),
                                                       before(2) - before(1), before(3) - before(2),
                                                       before(4) * 3, before(5) * 3 / 2.0});
    CHECK_ALL(values_of<&Particle::number>(u) == Integers{0, 3, 20, 2, 40, 1});
    CHECK_ALL(DistArray(field<&Particle::speed>(u)).to_host()[5].y == -1.5F);
  }
}

TEST_CASE("a member is sliced as its structs are, to be read and written") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto u = from_index<Particle>({2, 3}, NamedSharding(test::row(devices), P(none, "x")),
                                  [](auto i) { return particle(3 * i[0] + i[1]); });
    auto const numbers = field<&Particle::number>(u);

    CHECK_ALL(values_of<&Particle::number>(u(tessera::all, range(none, none, -1))) ==
              DistArray(numbers(tessera::all, range(none, none, -1))).to_host());
    CHECK_ALL(holds(DistArray(numbers(1, from(1)) + 1), Integers{41, 51}));
    CHECK_ALL(holds(DistArray(numbers(newaxis, tessera::all, 0)), Integers{0, 30}));
    std::int32_t const one = numbers(tessera::all, 2)(1);
    CHECK_ALL(one == 50);

    numbers(0, tessera::all) = numbers(1, tessera::all);
    numbers(tessera::all, range(0, 2)) += 5;
    numbers(1, 2) = -1;
    numbers(numbers == 35) *= 2;

    CHECK_ALL(holds(DistArray(numbers), Integers{70, 45, 50, 70, 45, -1}));
    CHECK_ALL(values_of<&Particle::mass>(u) == Doubles{0, 0.1, 0.2, 0.1 * 3, 0.4, 0.5});
    CHECK_ALL_THROW((void)numbers(2, tessera::all), IndexError);
  }
}

TEST_CASE("a member of a member is written too") {
  auto u = particles(4, 3);
  auto const x = field<&Speed::x>(field<&Particle::speed>(u));

  x(range(0, 2)) = 7;
  x += 0.5F;

  CHECK_ALL(holds(DistArray(x), Floats{7.5F, 7.5F, 2.5F, 3.5F}));
  CHECK_ALL(holds(DistArray(field<&Speed::y>(field<&Particle::speed>(u))), Floats(4, -1.5F)));
  CHECK_ALL(values_of<&Particle::number>(u) == Integers{0, 10, 20, 30});
}

TEST_CASE("a member written from its neighbours reads what was there before") {
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto u = particles(7, devices);

    field<&Particle::number>(u) = field<&Particle::number>(shift(u, 1, edge));

    CHECK_ALL(values_of<&Particle::number>(u) == Integers{10, 20, 30, 40, 50, 60, 60});
    CHECK_ALL(values_of<&Particle::mass>(u)[6] == particle(6).mass);
  }
}

TEST_CASE("what does not fit a member is refused before anything is written") {
  auto u = particles(6, 3);
  auto const before = counters();

  CHECK_ALL_THROW(field<&Particle::mass>(u) = iota<double>({5}, over(3)), ShapeError);
  CHECK_ALL_THROW(field<&Particle::number>(u) = 1LL << 40, UsageError);
  CHECK_ALL_THROW(field<&Particle::mass>(u(from(2))) += iota<double>({5}, over(3)), ShapeError);
  CHECK_ALL_THROW(field<&Particle::mass>(u)(field<&Particle::mass>(u(from(1))) > 0) = 1,
                  ShapeError);

  CHECK_ALL((counters() - before).messages == 0);
}

TEST_SUITE_END();
