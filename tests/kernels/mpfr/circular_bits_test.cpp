/// @file
/// A cell has the same bits whether it is computed alone or in a vector of any width. The functions
/// below choose their instructions themselves, so this file is compiled for any x86-64.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "circular_arguments.hpp"
#include "circular_list.hpp"

using namespace tessera::test::circular;

TEST_SUITE_BEGIN("formulas/circular_bits");

namespace {

template <class R>
using Cells = std::vector<R>;

/// One way to compute cells in a loop; each is compiled for other instructions.
struct Baseline {
  static bool is_here() { return true; }
  template <class Formula, class R, class... More>
  [[gnu::noinline]] static void run(R* to, std::size_t cells, More const*... from) {
    for (std::size_t j = 0; j < cells; ++j) to[j] = Formula::usual(from[j]...);
  }
};
struct Alone {
  static bool is_here() { return true; }
  template <class Formula, class R, class... More>
  static void run(R* to, std::size_t cells, More const*... from) {
    for (std::size_t j = 0; j < cells; ++j) to[j] = cell<Formula, R>(from[j]...);
  }

 private:
  template <class Formula, class R, class... More>
  [[gnu::noinline]] static R cell(More... from) {
    return Formula::usual(from...);
  }
};
struct Avx2 {
  static bool is_here() {
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  }
  template <class Formula, class R, class... More>
  [[gnu::noinline, gnu::target("avx2,fma")]] static void run(R* to, std::size_t cells,
                                                             More const*... from) {
    for (std::size_t j = 0; j < cells; ++j) to[j] = Formula::usual(from[j]...);
  }
};
struct Avx512 {
  static bool is_here() {
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512bw") != 0;
  }
  template <class Formula, class R, class... More>
  [[gnu::noinline,
    gnu::target("avx512f,avx512dq,avx512vl,avx512bw,fma,prefer-vector-width=512")]] static void
  run(R* to, std::size_t cells, More const*... from) {
    for (std::size_t j = 0; j < cells; ++j) to[j] = Formula::usual(from[j]...);
  }
};

template <class R>
bool is_same(R a, R b) {
  return (std::isnan(a) && std::isnan(b)) ||
         tessera::detail::formula::as_bits(a) == tessera::detail::formula::as_bits(b);
}

/// The arguments of the test of errors which the usual way is for.
template <class Formula, class R>
Cells<R> usual_arguments() {
  auto all = arguments<R>(100'000, 3);
  if constexpr (requires { Formula::is_rare(R{}); })
    std::erase_if(all, [](R x) { return Formula::is_rare(x); });
  return all;
}

/// Compares a loop over everything, and loops of 1 to 40 cells.
template <class Way, class Formula, class R, class... More>
void check_way(Cells<R> const& expected, Cells<More> const&... from) {
  if (!Way::is_here()) {
    MESSAGE("this machine lacks the instructions");
    return;
  }
  Cells<R> found(expected.size());
  Way::template run<Formula>(found.data(), found.size(), from.data()...);
  auto const differing = std::mismatch(found.begin(), found.end(), expected.begin(), is_same<R>);
  CHECK(differing.first == found.end());

  for (std::size_t cells = 1; cells <= 40; ++cells) {
    std::size_t const first = 97 * cells;
    std::fill_n(found.begin(), cells + 1, R{-7});
    Way::template run<Formula>(found.data(), cells, (from.data() + first)...);
    auto const begin = found.begin();
    bool const equal =
        std::equal(begin, begin + static_cast<std::ptrdiff_t>(cells),
                   expected.begin() + static_cast<std::ptrdiff_t>(first), is_same<R>);
    CHECK(equal);
    CHECK(found[cells] == R{-7});
  }
}
template <class Formula, class R, class... More>
void check_all_ways(Cells<R> const& first, Cells<More> const&... more) {
  Cells<R> expected(first.size());
  Alone::run<Formula>(expected.data(), expected.size(), first.data(), more.data()...);
  check_way<Baseline, Formula>(expected, first, more...);
  check_way<Avx2, Formula>(expected, first, more...);
  check_way<Avx512, Formula>(expected, first, more...);
}

}  // namespace

TEST_CASE_TEMPLATE("functions of one argument have the same bits in vectors of any width", R,
                   double, float) {
  for_each_unary([](auto const& function) {
    using Formula = typename std::decay_t<decltype(function)>::type;
    CAPTURE(std::string_view{function.name});
    check_all_ways<Formula>(usual_arguments<Formula, R>());
  });
}

TEST_CASE_TEMPLATE("functions of two arguments have the same bits in vectors of any width", R,
                   double, float) {
  for_each_binary([](auto const& function) {
    using Formula = typename std::decay_t<decltype(function)>::type;
    CAPTURE(std::string_view{function.name});
    auto const first = arguments<R>(100'000, 4);
    auto second = arguments<R>(100'000, 5);
    std::reverse(second.begin(), second.end());
    check_all_ways<Formula>(first, second);
  });
}

TEST_SUITE_END();
