#include <cfenv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "support/agree.hpp"
#include "support/device_kinds.hpp"
#include "support/float_states.hpp"
#include "support/left_out.hpp"
#include "support/other_engine.hpp"

// What the program has set for its own floating-point work changes no bit of an array.

using namespace tessera;
using test::InState;
using test::state_now;

TEST_SUITE_BEGIN("program/float_state");

namespace {

NamedSharding pieces() {
  return {Mesh({{"x", device_count()}}), P("x")};
}

template <class T>
DistArray<T, 1> thirds() {
  return from_index<T>({97}, pieces(), [](auto i) {
    return static_cast<T>(1.0 / (3.0 + static_cast<double>(i[0])));
  });
}

template <class T>
void heat(DistArray<T, 1>& u) {
  u(range(1, -1)) = T(0.8) * u(range(1, -1)) + T(0.1) * u(range(0, -2)) + T(0.1) * u(from(2));
}

// Hashes of what every part of the library computes, for cells of type T.
template <class T>
std::vector<std::uint64_t> results() {
  auto u = thirds<T>();
  std::vector<std::uint64_t> all{hash(u)};
  for (int s = 0; s < 5; ++s) heat(u);
  all.push_back(hash(u));
  iterate(20, [&] { heat(u); }, {.depth = 4, .tile = {7}});
  all.push_back(hash(u));
  auto const add = [&](auto const& scalar) {
    auto const whole = full<T>({5}, T(1), pieces());
    all.push_back(hash(DistArray(whole * scalar)));
  };
  add(sum(u));
  add(sum(u, fast));
  add(mean(u));
  add(norm(u));
  add(dot(u, u));
  add(prod(T(3) * u));
  // Cells and sums that are subnormal.
  auto const tiny = DistArray(std::numeric_limits<T>::min() * u);
  all.push_back(hash(tiny));
  all.push_back(hash(DistArray(T(0.5) * tiny)));
  add(sum(tiny));
  all.push_back(hash(DistArray(cast<float>(u))));
  all.push_back(hash(DistArray(exp(u) + sqrt(u) / sin(u))));
  return all;
}

template <class T>
void check_in_all_states() {
  auto const usual = results<T>();
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    std::vector<std::uint64_t> now;
    bool is_kept = false;
    {
      InState const own(state);
      now = results<T>();
      is_kept = state_now() == state;
    }
    CHECK_ALL(now == usual);
    CHECK_ALL(is_kept);
  }
}

}  // namespace

TEST_CASE("the caller's floating-point state changes no bit, and stays") {
  check_in_all_states<double>();
  check_in_all_states<float>();
}

TEST_CASE("the state in which a Runtime was made changes no bit") {
  auto const results_in = [](test::SetState const& state, std::int64_t devices) {
    InState const own(state);
    test::OtherEngine const other(devices);
    return results<double>();
  };
  for (std::int64_t const devices : {1, 3}) {
    auto const usual = results_in({}, devices);
    for (auto const& state : test::other_states()) {
      CAPTURE(state.name);
      CAPTURE(devices);
      CHECK_ALL(results_in(state, devices) == usual);
    }
  }
}

TEST_CASE("atomics round to nearest on every thread" * test::host_only()) {
  auto const total = [] {
    auto u = full<double>({8}, 1.0, pieces());
    fence(u);
    if (process() == ProcessId{0})
      for (std::int64_t i = 0; i < 8; ++i) u.accumulate({i}, 1e-17);
    fence(u);
    return hash(u);
  };
  auto const usual = total();
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    std::uint64_t now = 0;
    {
      InState const own(state);
      now = total();
    }
    CHECK_ALL(now == usual);
  }
}

TEST_CASE("the caller keeps its state where a function on the devices throws") {
  if (test::left_out_if(process_count() > 1, "what one process throws ends the job")) return;
  for (auto const& state : test::other_states()) {
    CAPTURE(state.name);
    bool is_kept = false;
    {
      InState const own(state);
      try {
        (void)from_index<double>({8}, pieces(), [](auto i) -> double {
          if (i[0] == 3) throw std::runtime_error("a functor gives up");
          return 0;
        });
      } catch (std::runtime_error const&) {
        is_kept = state_now() == state;
      }
    }
    CHECK(is_kept);
  }
}

TEST_SUITE_END();
