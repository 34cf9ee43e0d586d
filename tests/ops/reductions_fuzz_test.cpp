#include <cmath>
#include <sstream>

#include <doctest/doctest.h>

#include "tessera/ops/reductions.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/seeds.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::Random;

/// Random terms, most of them ill-conditioned, on random layouts over 1 to 8 devices: the bits are
/// those of one process that adds them in its own order.
TEST_SUITE_BEGIN("ops/reductions_fuzz");

namespace {

using Doubles = std::vector<double>;

double number(Random& random, int spread) {
  auto const mantissa = static_cast<double>(random.between(-(1LL << 53), 1LL << 53));
  return std::ldexp(mantissa, static_cast<int>(random.between(-spread, spread)) - 53);
}

// Narrow, wide, huge, tiny, cancelling, special.
Doubles random_terms(Random& random, std::int64_t count) {
  constexpr int spreads[] = {0, 3, 40, 300, 900};
  auto const spread = spreads[random.between(0, 4)];
  auto const one_in = [&](std::int64_t n) { return random.between(1, n) == 1; };
  Doubles terms;
  for (std::int64_t i = 0; i < count; ++i) terms.push_back(number(random, spread));
  if (one_in(2))  // pairs that cancel, in places far from each other
    for (std::size_t i = 0; i < terms.size() / 2; ++i)
      terms[terms.size() - 1 - i] = -terms[i] * (one_in(3) ? 1.0 : 1.0 + 0x1p-50);
  if (one_in(6))
    for (auto& x : terms) x = std::ldexp(x, -1000);
  if (one_in(6))
    for (auto& x : terms) x += 1e15;
  if (one_in(20) && count > 0) terms.front() = std::numeric_limits<double>::infinity();
  if (one_in(20) && count > 0) terms.back() = -std::numeric_limits<double>::infinity();
  if (one_in(30) && count > 0) terms.back() = std::numeric_limits<double>::quiet_NaN();
  return terms;
}

// NaN has many bits; all of them are NaN here.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || test::same_bits(Doubles{a}, Doubles{b});
}
bool same(Doubles const& a, Doubles const& b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i) equal = same(a[i], b[i]);
  return equal;
}

// The wanted values of one case.
struct Wanted {
  double sum, mean, var, norm;
  Doubles rows, columns;

  explicit Wanted(test::Mirror<double> const& m)
      : sum(test::sum_of(m.cells)),
        mean(test::mean_of(m.cells)),
        var(test::var_of(m.cells)),
        rows(test::reduced_by(m, {1}, test::sum_of)),
        columns(test::reduced_by(m, {0}, test::sum_of)) {
    auto squares = m.cells;
    for (auto& x : squares) x *= x;
    norm = std::sqrt(test::sum_of(squares));
  }
};

bool holds(DistArray<double, 2> const& u, Wanted const& wanted) {
  return same(sum(u), wanted.sum) && same(mean(u), wanted.mean) && same(var(u), wanted.var) &&
         same(norm(u), wanted.norm) && same(std::sqrt(dot(u, u).value()), wanted.norm) &&
         same(sum(u, axis(1)).to_host(), wanted.rows) &&
         same(sum(u, axis(0)).to_host(), wanted.columns);
}

// One set of terms on several layouts; says which one is wrong.
bool run_case(std::uint64_t seed) {
  Random random(seed);
  bool const is_long = random.between(0, 7) == 0;
  Shape const shape{random.between(0, is_long ? 300 : 12), random.between(0, is_long ? 90 : 12)};
  test::Mirror<double> m(shape);
  m.cells = random_terms(random, cells_of(shape));
  Wanted const wanted(m);
  for (int layout = 0; layout < 3; ++layout) {
    auto const devices = random.between(1, device_count());
    auto const sharding = test::random_sharding(random, devices, shape);
    if (test::agree(holds(test::spread_out<double, 2>(m, sharding), wanted))) continue;
    MESSAGE("shape ", text(shape), ' ', text(sharding));
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("sums, means, variances and norms do not depend on where their terms lie") {
  CHECK(test::failed_seeds(60, run_case) == 0);
}

TEST_SUITE_END();
