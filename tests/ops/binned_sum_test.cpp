#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/ops/detail.hpp"

#include "support/seeds.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("ops/binned_sum");

namespace {

__extension__ using Quad = __float128;  // 113 bits: exact for the sums it is the oracle of

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();
constexpr double smallest = std::numeric_limits<double>::denorm_min();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

static_assert(std::is_trivially_copyable_v<BinnedSum>);

std::uint64_t bits(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

double sum_of(std::vector<double> const& terms) {
  BinnedSum sum;
  sum.add(terms);
  return sum.value();
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// In [first, last].
  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(engine_);
  }
  std::size_t size(std::size_t last) {
    return static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(last)));
  }
  bool one_in(std::int64_t n) { return integer(1, n) == 1; }
  /// In (-1/2, 1/2), times 2^k with |k| up to `spread`.
  double number(int spread) {
    double const x = std::uniform_real_distribution<double>(-0.5, 0.5)(engine_);
    return std::ldexp(x, static_cast<int>(integer(-spread, spread)));
  }
  void shuffle(std::vector<double>& terms) { std::shuffle(terms.begin(), terms.end(), engine_); }

 private:
  std::mt19937_64 engine_;
};

/// Terms of one of many kinds: narrow, wide, huge, tiny, cancelling, on ties, special.
std::vector<double> random_terms(Random& random) {
  constexpr int spreads[] = {0, 10, 60, 600, 1020};
  int const spread = spreads[random.size(4)];
  std::vector<double> terms(random.one_in(10) ? 1 + random.size(20'000) : 1 + random.size(300));
  for (double& x : terms) x = random.number(spread);
  if (random.one_in(4))
    for (std::size_t i = 0; i + 1 < terms.size(); i += 2)
      terms[i + 1] = random.one_in(10) ? -terms[i] * (1 + 1e-15) : -terms[i];
  if (random.one_in(5))
    for (double& x : terms) x = std::floor(std::ldexp(x, 3)) / 8;
  if (random.one_in(8))  // halves of the units of all bins
    for (double& x : terms)
      x = std::ldexp(static_cast<double>(random.integer(-5, 5)),
                     std::max(-1074, 985 - 40 * static_cast<int>(random.integer(0, 52))));
  if (random.one_in(10))  // the edges of the bins
    for (double& x : terms)
      x = std::nextafter(std::ldexp(1.0, 985 - 40 * static_cast<int>(random.integer(0, 49))),
                         random.one_in(2) ? 0.0 : infinity) *
          (random.one_in(2) ? 1 : -1);
  if (random.one_in(10))
    for (double& x : terms) x = random.one_in(3) ? x * smallest * 1e3 : std::ldexp(x, -1000);
  if (random.one_in(12))
    for (double& x : terms) x = random.one_in(2) ? std::copysign(largest, x) : x;
  if (random.one_in(40)) terms[random.size(terms.size() - 1)] = infinity;
  if (random.one_in(40)) terms[random.size(terms.size() - 1)] = -infinity;
  if (random.one_in(60)) terms[random.size(terms.size() - 1)] = not_a_number;
  return terms;
}

/// The sum of terms[first, last) added in spans of random lengths, some of them one by one.
BinnedSum added_in_pieces(std::vector<double> const& terms, std::size_t first, std::size_t last,
                          Random& random) {
  BinnedSum sum;
  while (first < last) {
    auto const count =
        random.one_in(3) ? std::size_t{1} : std::min(last - first, 1 + random.size(5'000));
    if (count == 1)
      sum.add(terms[first]);
    else
      sum.add(std::span(terms).subspan(first, count));
    first += count;
  }
  return sum;
}

/// The same terms in another order, split over several sums that are merged in any order.
double shuffled_and_split(std::vector<double> terms, Random& random) {
  random.shuffle(terms);
  std::vector<std::size_t> cuts{0, terms.size()};
  for (std::int64_t extra = random.integer(0, 7); extra > 0; --extra)
    cuts.push_back(random.size(terms.size()));
  std::sort(cuts.begin(), cuts.end());
  std::vector<BinnedSum> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    parts.push_back(added_in_pieces(terms, cuts[i], cuts[i + 1], random));
  while (parts.size() > 1) {
    std::swap(parts[random.size(parts.size() - 1)], parts.back());
    auto const taken = parts.back();
    parts.pop_back();
    parts[random.size(parts.size() - 1)].merge(taken);
  }
  return parts.front().value();
}

double pairwise(std::span<double const> terms) {
  if (terms.size() > 128) {
    auto const half = terms.size() / 2;
    return pairwise(terms.first(half)) + pairwise(terms.subspan(half));
  }
  double sum = 0;
  for (double const x : terms) sum += x;
  return sum;
}

}  // namespace

TEST_CASE("an empty sum is plus zero") {
  CHECK(bits(BinnedSum{}.value()) == bits(0.0));
}

TEST_CASE("a sum that is exactly zero is plus zero, also of minus zeros") {
  CHECK(bits(sum_of({-0.0})) == bits(0.0));
  CHECK(bits(sum_of({-0.0, -0.0, -0.0})) == bits(0.0));
  CHECK(bits(sum_of({1.5, -1.5})) == bits(0.0));
  CHECK(bits(sum_of({-smallest, smallest})) == bits(0.0));
}

TEST_CASE("one term is its own sum, whatever its size") {
  Random random(test::seed_of_all(1));
  for (double const x : {1.0, 0.1, 1e308, largest, smallest, 3 * smallest, 0x1p985, 0x1p1023,
                         std::numeric_limits<double>::min(), infinity}) {
    CAPTURE(x);
    CHECK(sum_of({x}) == x);
    CHECK(sum_of({-x}) == -x);
  }
  for (int i = 0; i < 20'000; ++i) {
    double const x = random.number(1074);
    REQUIRE(bits(sum_of({x})) == bits(x + 0.0));
  }
}

TEST_CASE("numbers too small for the running sum of a plain loop still count") {
  CHECK(sum_of({1e16, 1.0, 1.0, -1e16}) == 2.0);
  CHECK(sum_of({1.0, 0x1p-60, -1.0}) == 0x1p-60);
}

TEST_CASE("the sum is rounded once, ties to even") {
  CHECK(sum_of({1.0, 0x1p-53}) == 1.0);
  CHECK(sum_of({1.0, 0x1p-52, 0x1p-53}) == 1.0 + 0x1p-51);
  CHECK(sum_of({1.0, 0x1p-53, 0x1p-70}) == 1.0 + 0x1p-52);
  CHECK(sum_of({-1.0, -0x1p-53, -0x1p-70}) == -1.0 - 0x1p-52);
  CHECK(sum_of({0x1p60, 128.0, 0x1p-15}) == 0x1p60 + 256.0);
}

TEST_CASE("a cancelled large term still sets what is small beside it") {
  CHECK(sum_of({1e308, -1e308, 1.0}) == 0.0);
  CHECK(sum_of({1.0, 1e308, -1e308}) == 0.0);
  CHECK(sum_of({-1e308, 1.0, 1e308}) == 0.0);
}

TEST_CASE("parts of a sum may lie beyond the range of double") {
  CHECK(sum_of({largest, largest, -largest}) == largest);
  CHECK(sum_of({largest, -largest, largest, largest, -largest}) == largest);
  CHECK(sum_of(std::vector<double>(10'000, largest)) == infinity);
  CHECK(sum_of({-largest, -largest}) == -infinity);
  CHECK(sum_of({largest, 0x1p969}) == largest);
  CHECK(sum_of({largest, 0x1p970}) == infinity);
}

TEST_CASE("subnormal terms add up exactly") {
  CHECK(sum_of(std::vector<double>(1'000, 3 * smallest)) == 3'000 * smallest);
  CHECK(sum_of({std::numeric_limits<double>::min(), -smallest}) ==
        std::numeric_limits<double>::min() - smallest);
  CHECK(sum_of({0x1p-976, smallest, -0x1p-976}) == smallest);
}

TEST_CASE("NaN and infinities are found in any chunk and any lane") {
  for (std::size_t const size : {1U, 2U, 3U, 4U, 5U, 7U, 64U, 5'000U})
    for (std::size_t const place : {std::size_t{0}, size / 2, size - 1}) {
      CAPTURE(size);
      CAPTURE(place);
      std::vector<double> terms(size, 0.1);
      terms[place] = infinity;
      CHECK(sum_of(terms) == infinity);
      terms[place] = -infinity;
      CHECK(sum_of(terms) == -infinity);
      terms[place] = not_a_number;
      CHECK(std::isnan(sum_of(terms)));
      terms[place] = -not_a_number;
      CHECK(std::isnan(sum_of(terms)));
    }
}

TEST_CASE("both infinities give NaN, in one sum and in merged ones") {
  BinnedSum plus;
  plus.add(infinity);
  BinnedSum minus;
  minus.add(-infinity);
  BinnedSum finite;
  finite.add(largest);

  CHECK(std::isnan(sum_of({infinity, 1.0, -infinity})));
  finite.merge(plus);
  CHECK(finite.value() == infinity);
  finite.merge(minus);
  CHECK(std::isnan(finite.value()));
}

TEST_CASE("a sum copied as bytes goes on where it was") {
  BinnedSum first;
  first.add(std::vector<double>{0.1, 1e300, -1e300});
  BinnedSum second;
  std::memcpy(&second, &first, sizeof first);

  first.add(0.3);
  second.add(0.3);

  CHECK(bits(first.value()) == bits(second.value()));
}

TEST_CASE("a packed sum goes on where it was, and merges as the sum does") {
  CHECK(sizeof(BinnedSum::Packed) == 32);
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    CAPTURE(round);
    BinnedSum whole, merged;
    for (int part = 0; part < 4; ++part) {
      BinnedSum sum;
      auto const kind = random.integer(0, 40);
      if (kind == 0) sum.add(not_a_number);
      if (kind == 1) sum.add(infinity);
      if (kind == 2) sum.add(-infinity);
      for (auto n = random.integer(0, 30); n > 0; --n)
        sum.add(std::ldexp(static_cast<double>(random.integer(-1'000'000'007, 1'000'000'007)),
                           static_cast<int>(random.integer(-1080, 990))));
      if (kind == 3) sum.add(-largest);
      whole.merge(sum);
      BinnedSum unpacked;
      unpacked.merge(sum.packed());
      CHECK(bits(unpacked.value()) == bits(sum.value()));
      merged.merge(unpacked.packed());
    }
    CHECK(bits(merged.value()) == bits(whole.value()));
  }
}

TEST_CASE("order, splitting, chunks and merging never change a bit") {
  Random random(test::seed_of_all(2));
  for (int i = 0; i < 10'000; ++i) {
    CAPTURE(i);
    auto const terms = random_terms(random);
    double const expected = sum_of(terms);
    for (int trial = 0; trial < 3; ++trial) {
      double const other = shuffled_and_split(terms, random);
      REQUIRE((bits(other) == bits(expected) || (std::isnan(other) && std::isnan(expected))));
    }
  }
}

TEST_CASE("the sum is the exact one rounded once where the terms are alike in size") {
  Random random(test::seed_of_all(3));
  for (int i = 0; i < 3'000; ++i) {
    CAPTURE(i);
    std::vector<double> terms(1 + random.size(2'000));
    Quad exact = 0;
    for (double& x : terms) {
      // Within 2^-25 .. 2^0 and of 53 bits, thousands of them fit 113 bits without rounding.
      x = random.number(12) * 0x1p-13;
      exact += x;
    }
    REQUIRE(sum_of(terms) == static_cast<double>(exact));
  }
}

TEST_CASE("the error is far below the bound of a pairwise sum") {
  Random random(test::seed_of_all(4));
  for (int i = 0; i < 3'000; ++i) {
    CAPTURE(i);
    std::vector<double> terms(1 + random.size(3'000));
    Quad exact = 0;
    Quad magnitudes = 0;
    for (double& x : terms) x = random.number(60);
    if (random.one_in(2))
      for (std::size_t k = 1; k < terms.size(); k += 2) terms[k] = -terms[k - 1] * (1 + 1e-14);
    std::sort(terms.begin(), terms.end(),
              [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (double const x : terms) {
      exact += x;
      magnitudes += std::abs(x);
    }

    double const error = std::abs(static_cast<double>(exact - sum_of(terms)));

    double const half_ulp = std::abs(static_cast<double>(exact)) * 0x1p-53;
    REQUIRE(error <= 1.001 * half_ulp + 0x1p-66 * static_cast<double>(magnitudes));
    double const pairwise_error = std::abs(static_cast<double>(exact - pairwise(terms)));
    REQUIRE(error <= pairwise_error + 1.001 * half_ulp + 0x1p-66 * static_cast<double>(magnitudes));
  }
}

TEST_SUITE_END();
