#include "tessera/detail/random/distributions.hpp"

#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/text.hpp"
#include "tessera/detail/kernels/formulas/functions.hpp"

namespace tessera::detail {
namespace {

constexpr double probability_scale = 0x1p32;

/// The probability that a number of the standard normal distribution is less than x. Uses the
/// library's own erfc, which gives the same bits on every process.
[[nodiscard]] double normal_below(double x) {
  return 0.5 * value_of<Function::erfc>(-x * 0x1.6a09e667f3bcdp-1);
}

template <class R>
[[nodiscard]] NormalInterval<R> interval_of(R low, R high) {
  if (!(low < high))
    throw UsageError(text("truncated_normal: the bounds are [", low, ", ", high,
                          "], and the first must be less than the second"));
  auto const a = static_cast<double>(low);
  auto const b = static_cast<double>(high);
  NormalInterval<R> result{low, high, normal_below(a), normal_below(-b), 0};
  // Subtracts probabilities of the nearer tail, so that the difference keeps its precision.
  result.share = a > 0 ? normal_below(-a) - result.above : normal_below(b) - result.below;
  // Probabilities down to 2^-65 times this must not be subnormal: normal_quantile requires that.
  auto const most = a > 0 ? result.above + result.share : result.below + result.share;
  if (result.share <= 0 || most < 0x1p-950)
    throw UsageError(text("truncated_normal: between ", low, " and ", high,
                          " there are no numbers of the normal distribution; as bounds, its tails "
                          "reach to about 36"));
  return result;
}

void check_probability(char const* kind, double probability) {
  if (!(probability >= 0 && probability <= 1))
    throw UsageError(text(kind, ": a probability is ", probability, ", which is not in [0, 1]"));
}

[[nodiscard]] std::uint64_t scaled(double probability) {
  return static_cast<std::uint64_t>(std::floor(probability * probability_scale + 0.5));
}

}  // namespace

NormalInterval<float> normal_interval(float low, float high) {
  return interval_of(low, high);
}
NormalInterval<double> normal_interval(double low, double high) {
  return interval_of(low, high);
}

std::uint64_t scaled_probability(double probability) {
  check_probability("bernoulli", probability);
  return scaled(probability);
}

void scaled_sums(std::span<double const> probabilities, std::span<std::uint64_t> ends) {
  double sum = 0;
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    check_probability("categorical", probabilities[k]);
    sum += probabilities[k];
    ends[k] = scaled(std::fmin(sum, 1));
  }
  if (std::fabs(sum - 1) > 1e-6)
    throw UsageError(text("categorical: the ", probabilities.size(), " probabilities add up to ",
                          sum, ", not to 1; divide each of them by the sum"));
  // What the sum lacks of 1 goes to the last category that has a probability at all.
  for (auto k = probabilities.size(); k-- > 0;) {
    ends[k] = scaled(1);
    if (probabilities[k] > 0) return;
  }
}

void refuse_integers(std::string const& low, std::string const& high, std::string const& dtype) {
  throw UsageError(text("random numbers of ", dtype, " from ", low, " on and below ", high,
                        ": the first must be less than the second, and ", dtype,
                        " must hold all between"));
}

}  // namespace tessera::detail
