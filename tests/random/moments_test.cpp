#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/random/random.hpp"

#include "src/base/environment.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using random::Key;

/// Moments, chi-squared and Kolmogorov-Smirnov. A million numbers of each distribution, or as many
/// millions as TESSERA_RANDOM_MILLIONS says. Only in one process: others have the same bits.
TEST_SUITE_BEGIN("random/moments");

namespace {

constexpr std::int64_t million = 1'000'000;

std::int64_t millions() {
  return environment_integer("TESSERA_RANDOM_MILLIONS", 1).value_or(1);
}

/// Calls visit(numbers) for each million of numbers of draw(key, shape, sharding).
template <class Draw, class Visit>
void visit_numbers_of(Draw const& draw, std::uint64_t seed, Visit const& visit) {
  std::int64_t const shape[] = {million};
  for (std::int64_t part = 0; part < millions(); ++part)
    visit(draw(Key(seed).fold_in(part), shape, test::over(device_count())).to_host());
}

/// How far a sum of n terms is from its mean, in deviations.
double deviations(double sum, double n, double mean, double variance) {
  return (sum - n * mean) / std::sqrt(n * variance);
}

/// How numbers, which a distribution function has made uniform, fill equal bins.
struct Bins {
  static constexpr std::size_t count = 1U << 16U;
  std::vector<double> filled = std::vector<double>(count);
  double n = 0;

  void add(double u) {
    auto const bin = static_cast<std::size_t>(u * count);
    filled[std::min(bin, count - 1)] += 1;
    n += 1;
  }
  /// Chi-squared of 256 bins, in deviations from its mean.
  [[nodiscard]] double chi_squared() const {
    double sum = 0;
    for (std::size_t bin = 0; bin < count; bin += 256) {
      double in_bin = 0;
      for (std::size_t i = 0; i < 256; ++i) in_bin += filled[bin + i];
      sum += (in_bin - n / 256) * (in_bin - n / 256) / (n / 256);
    }
    return (sum - 255) / std::sqrt(2.0 * 255);
  }
  /// The largest distance from the distribution at the borders of bins, times the root of n.
  [[nodiscard]] double kolmogorov_smirnov() const {
    double below = 0;
    double largest = 0;
    for (std::size_t bin = 0; bin < count; ++bin) {
      below += filled[bin];
      auto const expected = static_cast<double>(bin + 1) / count;
      largest = std::max(largest, std::fabs(below / n - expected));
    }
    return largest * std::sqrt(n);
  }
};

/// Sums of the powers of numbers, and of products of neighbours.
struct Sums {
  std::array<double, 5> powers{};    ///< x, x^2 ... ; [0] counts
  std::array<double, 4> products{};  ///< of numbers 1 ... 4 cells apart
  void add(std::vector<double> const& x, double mean) {
    for (auto const number : x) {
      double power = 1;
      for (auto& sum : powers) {
        sum += power;
        power *= number;
      }
    }
    for (std::size_t lag = 0; lag < products.size(); ++lag)
      for (std::size_t i = lag + 1; i < x.size(); ++i)
        products[lag] += (x[i] - mean) * (x[i - lag - 1] - mean);
  }
};

/// Checks the numbers against moments 0 ... 8 of their distribution and its function.
template <class Draw, class Distribution>
void check(std::string const& name, Draw const& draw, std::array<double, 9> const& moments,
           Distribution const& distribution) {
  if (process_count() != 1) return;
  CAPTURE(name);
  Sums sums;
  Bins bins;
  visit_numbers_of(draw, 1, [&](auto const& numbers) {
    std::vector<double> x(numbers.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(numbers[i]);
    sums.add(x, moments[1]);
    for (auto const number : x) bins.add(distribution(number));
  });
  auto const n = sums.powers[0];
  for (std::size_t k = 1; k <= 4 && moments[1] != 1e300; ++k) {
    CAPTURE(k);
    CHECK(std::fabs(deviations(sums.powers[k], n, moments[k],
                               moments[2 * k] - moments[k] * moments[k])) < 4);
  }
  auto const variance = moments[2] - moments[1] * moments[1];
  for (auto const product : sums.products)
    CHECK(std::fabs(deviations(product, n, 0, variance * variance)) < 4);
  CHECK(std::fabs(bins.chi_squared()) < 4);
  CHECK(bins.kolmogorov_smirnov() < 1.95);  // exceeded once in 1000
}

double normal_below(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

constexpr std::array uniform_moments{1.0,     1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5,
                                     1.0 / 6, 1.0 / 7, 1.0 / 8, 1.0 / 9};
constexpr std::array normal_moments{1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0};
constexpr std::array exponential_moments{1.0, 1.0, 2.0, 6.0, 24.0, 120.0, 720.0, 5040.0, 40320.0};

/// Moments of the normal distribution in [low, high], by Simpson's rule.
std::array<double, 9> truncated_moments(double low, double high) {
  constexpr int parts = 20000;
  std::array<double, 9> result{};
  for (int i = 0; i <= parts; ++i) {
    auto const x = low + (high - low) * i / parts;
    auto const weight = (i == 0 || i == parts ? 1.0
                         : i % 2 == 1         ? 4.0
                                              : 2.0) *
                        std::exp(-0.5 * (x * x - low * low));
    double power = 1;
    for (auto& moment : result) {
      moment += weight * power;
      power *= x;
    }
  }
  auto const all = result[0];
  for (auto& moment : result) moment /= all;
  return result;
}

/// The function of the same distribution, for 0 <= low < high, with the digits of tails.
auto truncated_below(double low, double high) {
  return [=](double x) {
    auto const above = [](double y) { return 0.5 * std::erfc(y / std::sqrt(2.0)); };
    return (above(low) - above(x)) / (above(low) - above(high));
  };
}

}  // namespace

TEST_CASE("uniform numbers") {
  auto const below = [](double x) { return x; };
  check(
      "double", [](Key k, auto& n, auto const& s) { return random::uniform<double>(k, n, s); },
      uniform_moments, below);
  check(
      "float", [](Key k, auto& n, auto const& s) { return random::uniform<float>(k, n, s); },
      uniform_moments, below);
}

TEST_CASE("normal numbers") {
  check(
      "double", [](Key k, auto& n, auto const& s) { return random::normal<double>(k, n, s); },
      normal_moments, normal_below);
  check(
      "float", [](Key k, auto& n, auto const& s) { return random::normal<float>(k, n, s); },
      normal_moments, normal_below);
}

TEST_CASE("exponential numbers") {
  auto const below = [](double x) { return -std::expm1(-x); };
  check(
      "double", [](Key k, auto& n, auto const& s) { return random::exponential<double>(k, n, s); },
      exponential_moments, below);
  check(
      "float", [](Key k, auto& n, auto const& s) { return random::exponential<float>(k, n, s); },
      exponential_moments, below);
}

TEST_CASE("truncated normal numbers, in the middle and in a tail") {
  for (auto const& [low, high] : {std::pair{0.0, 1.5}, {0.5, 40.0}, {6.0, 9.0}, {1.0, 1.001}}) {
    CAPTURE(low);
    CAPTURE(high);
    auto const from = low;
    auto const to = high;
    check(
        "double",
        [=](Key k, auto& n, auto const& s) {
          return random::truncated_normal<double>(k, from, to, n, s);
        },
        truncated_moments(low, std::min(high, low + 10)), truncated_below(low, high));
  }
  check(
      "float",
      [](Key k, auto& n, auto const& s) {
        return random::truncated_normal<float>(k, 0.0F, 2.0F, n, s);
      },
      truncated_moments(0, 2), truncated_below(0, 2));
  auto const mirrored = [](Key k, auto& n, auto const& s) {
    DistArray<double, 1> result = random::truncated_normal<double>(k, -9.0, -6.0, n, s);
    return result;
  };
  if (process_count() != 1) return;
  visit_numbers_of(mirrored, 2, [&](auto const& x) {
    CHECK(*std::min_element(x.begin(), x.end()) >= -9.0);
    CHECK(*std::max_element(x.begin(), x.end()) <= -6.0);
  });
}

TEST_CASE("a category without probability gets no bits, even where the sum is not quite 1") {
  constexpr auto all = std::uint64_t{1} << 32U;
  auto const ends_of = [](std::vector<double> const& probabilities) {
    std::vector<std::uint64_t> ends(probabilities.size());
    detail::scaled_sums(probabilities, ends);
    return ends;
  };
  CHECK(ends_of({0.9999999, 0, 0}) == std::vector<std::uint64_t>{all, all, all});
  CHECK(ends_of({0, 0.25, 0.7499999}) == std::vector<std::uint64_t>{0, all / 4, all});
  CHECK(ends_of({0.5, 0.5000005, 0}) == std::vector<std::uint64_t>{all / 2, all, all});
}

TEST_CASE("integers and categories come up as often as they should") {
  if (process_count() != 1) return;
  auto const check_counts = [](auto const& draw, std::vector<double> const& probabilities) {
    std::vector<double> counts(probabilities.size());
    visit_numbers_of(draw, 3, [&](auto const& numbers) {
      for (auto const number : numbers) counts.at(static_cast<std::size_t>(number)) += 1;
    });
    auto const n = static_cast<double>(millions() * million);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      CAPTURE(i);
      auto const p = probabilities[i];
      CHECK(std::fabs(counts[i] - n * p) <= 4 * std::sqrt(n * p * (1 - p)));
    }
  };
  check_counts(
      [](Key k, auto& n, auto const& s) { return random::integers<std::int32_t>(k, 0, 6, n, s); },
      std::vector<double>(6, 1.0 / 6));
  check_counts([](Key k, auto& n, auto const& s) { return random::integers(k, 0, 10, n, s); },
               std::vector<double>(10, 0.1));
  check_counts([](Key k, auto& n, auto const& s) { return random::bernoulli(k, 0.1, n, s); },
               {0.9, 0.1});
  check_counts(
      [](Key k, auto& n, auto const& s) {
        return random::categorical(k, {0.2, 0, 0.5, 0.3}, n, s);
      },
      {0.2, 0, 0.5, 0.3});
}

TEST_CASE("numbers of keys that were split have nothing in common") {
  if (process_count() != 1) return;
  auto const [k1, k2] = Key(5).split<2>();
  auto const a = random::uniform<double>(k1, {million}, test::over(1)).to_host();
  auto const b = random::uniform<double>(k2, {million}, test::over(1)).to_host();
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - 0.5) * (b[i] - 0.5);

  CHECK(std::fabs(deviations(sum, million, 0, 1.0 / 144)) < 4);
}

TEST_SUITE_END();
