#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"
#include "src/ops/detail.hpp"

#include "support/seeds.hpp"

using namespace tessera;

// Terms one at a time, as threads of GPUs add them, beside spans of terms.

TEST_SUITE_BEGIN("ops/single_terms");

namespace {

std::uint64_t bits_of(double x) {
  // One NaN is as good as another.
  return std::isnan(x) ? 1 : std::bit_cast<std::uint64_t>(x);
}

/// Of all sizes, some of them zero, subnormal, huge or, rarely, not finite.
double random_term(std::mt19937_64& random, int spread, bool may_be_special) {
  auto const kind = random() % 64;
  if (kind == 0) return 0.0;
  if (kind == 1) return -0.0;
  if (kind == 2) return std::bit_cast<double>(random() % (std::uint64_t{1} << 52));
  if (kind == 3 && may_be_special) return std::numeric_limits<double>::infinity();
  if (kind == 4 && may_be_special) return -std::numeric_limits<double>::infinity();
  if (kind == 5 && may_be_special && random() % 4 == 0)
    return std::numeric_limits<double>::quiet_NaN();
  auto const fraction = std::uniform_real_distribution<double>(-1, 1)(random);
  auto const exponent = std::uniform_int_distribution<int>(-spread, spread)(random);
  return std::ldexp(fraction, exponent);
}

std::vector<double> random_terms(std::mt19937_64& random, bool may_be_special) {
  int const spreads[] = {0, 3, 30, 100, 400, 1023};
  auto const spread = spreads[random() % 6];
  std::vector<double> terms(random() % 50);
  for (auto& term : terms) term = random_term(random, spread, may_be_special);
  return terms;
}

}  // namespace

TEST_CASE("terms one by one have the bits of a span") {
  std::mt19937_64 random(test::seed_of_all(1));
  for (int round = 0; round < 20'000; ++round) {
    auto const terms = random_terms(random, round % 10 == 0);
    BinnedSum whole;
    whole.add(terms);
    BinnedSum parts[4];
    for (double const term : terms) parts[random() % 4].add_term(term);
    for (std::size_t i = 1; i < 4; ++i) parts[0].merge(parts[i]);

    REQUIRE(bits_of(parts[0].value()) == bits_of(whole.value()));
  }
}

TEST_CASE("terms by fours have the bits of a span") {
  std::mt19937_64 random(test::seed_of_all(5));
  for (int round = 0; round < 10'000; ++round) {
    auto terms = random_terms(random, round % 10 == 0);
    terms.resize(terms.size() / 4 * 4);
    BinnedSum whole;
    whole.add(terms);
    BinnedSum fours;
    for (std::size_t i = 0; i < terms.size(); i += 4) {
      double const four[] = {terms[i], terms[i + 1], terms[i + 2], terms[i + 3]};
      fours.add_terms(four);
    }

    REQUIRE(bits_of(fours.value()) == bits_of(whole.value()));
  }
}

TEST_CASE("terms one by one join spans, in any order") {
  std::mt19937_64 random(test::seed_of_all(2));
  for (int round = 0; round < 5'000; ++round) {
    auto terms = random_terms(random, false);
    BinnedSum whole;
    whole.add(terms);
    auto const cut = terms.empty() ? 0 : random() % terms.size();
    BinnedSum mixed;
    for (std::size_t i = terms.size(); i-- > cut;) mixed.add_term(terms[i]);
    mixed.add(std::span(terms).first(cut));

    REQUIRE(bits_of(mixed.value()) == bits_of(whole.value()));
  }
}

TEST_CASE("factors one by one have the bits of a span") {
  std::mt19937_64 random(test::seed_of_all(3));
  for (int round = 0; round < 5'000; ++round) {
    auto const factors = random_terms(random, round % 10 == 0);
    WideProduct whole;
    whole.multiply(factors);
    WideProduct single;
    for (double const factor : factors) single.multiply(factor);

    REQUIRE(bits_of(single.value()) == bits_of(whole.value()));
  }
}

TEST_CASE("complex factors one by one have the bits of a span") {
  std::mt19937_64 random(test::seed_of_all(4));
  for (int round = 0; round < 2'000; ++round) {
    auto const real = random_terms(random, false);
    auto imaginary = real;
    for (auto& part : imaginary) part = random_term(random, 3, round % 10 == 0);
    WideComplexProduct whole;
    whole.multiply(real, imaginary);
    WideComplexProduct single;
    for (std::size_t i = 0; i < real.size(); ++i) single.multiply(real[i], imaginary[i]);

    REQUIRE(bits_of(single.value().real()) == bits_of(whole.value().real()));
    REQUIRE(bits_of(single.value().imag()) == bits_of(whole.value().imag()));
  }
}

TEST_SUITE_END();
