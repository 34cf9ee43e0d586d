#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/kernels/formulas/functions.hpp"

#include "src/base/text.hpp"
#include "src/kernels/processors.hpp"

using namespace tessera;
using namespace tessera::detail;

/// The loops of all kinds of processors give each argument the same value, wherever it stands.
TEST_SUITE_BEGIN("kernels/formulas");

namespace {

template <class R>
bool same_bits(R a, R b) {
  using Bits = std::conditional_t<sizeof(R) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b) || (a != a && b != b);
}

/// Floats of all magnitudes, small whole numbers, and special ones; a few beside the others are so
/// large that a function may need another way for them.
template <class R>
std::vector<R> arguments_for_tests(std::size_t count, std::uint64_t seed) {
  using Limits = std::numeric_limits<R>;
  std::mt19937_64 random(seed);
  std::vector<R> found;
  for (std::size_t i = 0; i < count; ++i) {
    auto const kind = random() % 16;
    auto const unit = static_cast<double>(random() >> 11U) * 0x1p-53;
    auto const sign = (random() & 1U) != 0 ? R{1} : R{-1};
    R const special[] = {R{0},
                         Limits::infinity(),
                         Limits::quiet_NaN(),
                         Limits::max(),
                         Limits::min(),
                         Limits::denorm_min(),
                         R{1},
                         R{0.5}};
    if (kind == 0)
      found.push_back(sign * special[random() % 8]);
    else if (kind == 1)
      found.push_back(sign * static_cast<R>(std::ldexp(
                                 1 + unit, static_cast<int>(random() % (2 * Limits::max_exponent)) -
                                               Limits::max_exponent)));
    else if (kind == 2)
      found.push_back(sign * static_cast<R>(random() % 200));
    else
      found.push_back(sign * static_cast<R>(unit * 30));
  }
  return found;
}

template <class R>
Loops<R> const& loops_for(ProcessorKernels const& kind) {
  if constexpr (sizeof(R) == 4)
    return kind.formulas->floats;
  else
    return kind.formulas->doubles;
}

template <class R>
void check_function(std::size_t function, ProcessorKernels const& kind) {
  auto const& all = loops_for<R>(kernels_of_this_processor().back());
  for (std::int64_t count = 0; count <= 1030; count += count < 40 ? 1 : 330) {
    auto const arguments = arguments_for_tests<R>(static_cast<std::size_t>(count), 17 + function);
    std::vector<R> values(arguments.size());
    loops_for<R>(kind).one[function](arguments.data(), values.data(), count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      R alone = 0;
      all.one[function](&arguments[i], &alone, 1);
      CAPTURE(kind.name);
      CAPTURE(function);
      CAPTURE(arguments[i]);
      REQUIRE_MESSAGE(same_bits(values[i], alone), values[i], " in a block, ", alone, " alone");
    }
  }
}
template <class R>
void check_function2(std::size_t function, ProcessorKernels const& kind) {
  auto const& all = loops_for<R>(kernels_of_this_processor().back());
  for (std::int64_t count = 0; count <= 1030; count += count < 40 ? 1 : 330) {
    auto const first = arguments_for_tests<R>(static_cast<std::size_t>(count), 5 + function);
    auto const second = arguments_for_tests<R>(static_cast<std::size_t>(count), 99 + function);
    std::vector<R> values(first.size());
    loops_for<R>(kind).two[function](first.data(), second.data(), values.data(), count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      R alone = 0;
      all.two[function](&first[i], &second[i], &alone, 1);
      CAPTURE(kind.name);
      CAPTURE(function);
      CAPTURE(first[i]);
      CAPTURE(second[i]);
      REQUIRE_MESSAGE(same_bits(values[i], alone), values[i], " in a block, ", alone, " alone");
    }
  }
}

}  // namespace

TEST_CASE("every kind of processor gives the same bits, in blocks and alone") {
  auto const kinds = kernels_of_this_processor();
  REQUIRE(!kinds.empty());
  for (auto const& kind : kinds) {
    MESSAGE(text("kind: ", kind.name));
    for (std::size_t f = 0; f < function_count; ++f) {
      check_function<float>(f, kind);
      check_function<double>(f, kind);
    }
    for (std::size_t f = 0; f < function2_count; ++f) {
      check_function2<float>(f, kind);
      check_function2<double>(f, kind);
    }
  }
}

TEST_CASE("a value does not depend on its neighbours") {
  for (std::size_t f = 0; f < function_count; ++f) {
    CAPTURE(f);
    for (double const neighbour : {1e300, 1e9, -1e22, 0.0, std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::quiet_NaN()}) {
      CAPTURE(neighbour);
      std::vector<double> beside(64, neighbour);
      std::vector<double> among(64, 0.7);
      beside[13] = 0.7;

      std::vector<double> values(64);
      std::vector<double> expected(64);

      compute(static_cast<Function>(f), beside.data(), values.data(), 64);
      compute(static_cast<Function>(f), among.data(), expected.data(), 64);

      CHECK(same_bits(values[13], expected[13]));
    }
  }
}

TEST_SUITE_END();
