#pragma once
/// @file
/// Counter-based random numbers: a cell's number depends only on the key and on the cell, not on
/// the devices or on numbers drawn before.
///
/// Each distribution comes as a new array of a given shape, and as an expression that takes the
/// shape of the enclosing statement. Cell i, in row-major order in the index space of the
/// statement, has the same bits for any number, layout and kind of devices. If a slice is assigned,
/// i counts the cells of the slice. If an expression is sliced or transposed, i remains the number
/// in the original expression.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/element.hpp"
#include "tessera/detail/random/distributions.hpp"
#include "tessera/detail/random/random_node.hpp"
#include "tessera/random/key.hpp"

namespace tessera {
namespace detail {

/// The floating-point types of random numbers.
template <class T>
concept RandomFloating = std::is_same_v<T, float> || std::is_same_v<T, double> || is_half<T>;

/// Makes an array of a shape, filled with the random numbers of an expression.
template <class D, std::size_t N>
[[nodiscard]] DistArray<typename D::value_type, N> drawn(RandomNode<D> const& numbers,
                                                         std::array<std::int64_t, N> const& shape,
                                                         NamedSharding const& sharding,
                                                         std::source_location const& at) {
  DistArray<typename D::value_type, N> result(Shape(shape), sharding);
  assign_to_view(result.view(at), numbers, at);
  return result;
}

/// True if type T can represent high - 1.
template <class T, class H>
[[nodiscard]] constexpr bool holds_below(H high) {
  if constexpr (std::is_signed_v<H>)
    return std::in_range<T>(std::int64_t{high} - 1);
  else
    return high == 0 ? std::is_signed_v<T> : std::in_range<T>(std::uint64_t{high} - 1);
}
/// The distribution of integers in [low, high).
/// Throws: UsageError unless low < high and T can represent low and high - 1.
template <class T, class L, class H>
[[nodiscard]] RandomIntegers<T> random_integers(L low, H high) {
  if (!std::in_range<T>(low) || !std::cmp_less(low, high) || !holds_below<T>(high))
    refuse_integers(std::to_string(low), std::to_string(high), dtype_name<T>());
  auto const count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return {static_cast<T>(low), count, rejection_threshold<IntegerBits<T>>(count)};
}

/// The distribution of category numbers 0, 1 ... N - 1.
/// Throws: UsageError unless T can represent each number, and as scaled_sums.
template <class T, std::size_t N>
[[nodiscard]] auto random_categories(double const* probabilities) {
  std::uint64_t ends[N];
  scaled_sums({probabilities, N}, ends);
  if (!std::in_range<T>(N - 1)) refuse_integers("0", std::to_string(N), dtype_name<T>());
  CategoricalNumbers<T, N - 1> result;
  for (std::size_t k = 0; k + 1 < N; ++k) {
    if (ends[k] == 0) ++result.first;
    result.last_bits[k] =
        ends[k] == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(ends[k] - 1);
  }
  return result;
}

}  // namespace detail

/// Random numbers: keys and distributions.
namespace random {

// Defines the form of a distribution that returns an array, name(key, more..., shape, sharding):
// the numbers that the expression name(key, more...) has in a statement of this shape. `kinds`,
// `parameters` and `arguments` are lists in parentheses; each entry comes with its comma.
#define TESSERA_LIST(...) __VA_ARGS__
#define TESSERA_DRAWN(kinds, name, same, parameters, arguments)                                   \
  template <TESSERA_LIST kinds std::size_t N>                                                     \
  [[nodiscard]] auto name(                                                                        \
      StepKey const& key, TESSERA_LIST parameters std::array<std::int64_t, N> const& shape,       \
      NamedSharding const& sharding, std::source_location at = std::source_location::current()) { \
    return detail::drawn(same(key TESSERA_LIST arguments), shape, sharding, at);                  \
  }                                                                                               \
  template <TESSERA_LIST kinds std::size_t N>                                                     \
  [[nodiscard]] auto name(                                                                        \
      StepKey const& key, TESSERA_LIST parameters std::int64_t const(&shape)[N],                  \
      NamedSharding const& sharding, std::source_location at = std::source_location::current()) { \
    return detail::drawn(same(key TESSERA_LIST arguments), std::to_array(shape), sharding, at);   \
  }

/// Uniform numbers in [0, 1): multiples of 2^-53 (double), 2^-24 (float), 2^-11 (float16) or 2^-8
/// (bfloat16).
///
/// Shapes:  that of the enclosing statement.
/// Example: w *= random::uniform<float>(key) < 0.9F;
template <detail::RandomFloating T = double>
[[nodiscard]] auto uniform(StepKey const& key) {
  return detail::RandomNode<detail::UniformNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), uniform, uniform<T>, (), ())

/// Numbers of the normal distribution with mean 0 and standard deviation 1, by the Box-Muller
/// transform. Their magnitude is at most 6.8 (float and types of 16 bits) or 9.5 (double).
/// Example: u = mean + deviation * random::normal<double>(key);
template <detail::RandomFloating T = double>
[[nodiscard]] auto normal(StepKey const& key) {
  return detail::RandomNode<detail::NormalNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), normal, normal<T>, (), ())

/// Numbers of the exponential distribution with rate 1, and so with mean 1.
/// Example: waits = random::exponential<double>(key) / rate;
template <detail::RandomFloating T = double>
[[nodiscard]] auto exponential(StepKey const& key) {
  return detail::RandomNode<detail::ExponentialNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), exponential, exponential<T>, (), ())

/// Numbers of the normal distribution with mean 0 and standard deviation 1, truncated to
/// [low, high]; a bound may be infinite. They are as accurate in a far tail as in the middle.
/// Throws:  UsageError unless low < high, or if both bounds are so far out in a tail (beyond about
///          36) that double cannot hold the probability between them.
/// Example: weights = 0.02F * random::truncated_normal<float>(key, -2, 2);
template <detail::RandomFloating T = double>
[[nodiscard]] auto truncated_normal(StepKey const& key,
                                    std::type_identity_t<detail::Computed<T>> low,
                                    std::type_identity_t<detail::Computed<T>> high) {
  return detail::RandomNode<detail::TruncatedNormalNumbers<T>>({detail::normal_interval(low, high)},
                                                               key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), truncated_normal, truncated_normal<T>,
              (std::type_identity_t<detail::Computed<T>> low,
               std::type_identity_t<detail::Computed<T>> high, ),
              (, low, high))

/// Integers in [low, high), all with exactly equal probability.
/// Throws:  UsageError unless low < high and T can represent low and high - 1.
/// Cost:    if high - low does not divide 2^32 (2^64 for types of 64 bits), some cells are drawn
///          again. They are few unless high - low is near half that number, or larger.
/// Example: dice = random::integers<std::int32_t>(key, 1, 7);
template <detail::Integer T = std::int64_t>
[[nodiscard]] auto integers(StepKey const& key, detail::Integer auto low,
                            detail::Integer auto high) {
  auto const numbers = detail::random_integers<T>(low, high);
  return detail::RandomNode<detail::RandomIntegers<T>>(numbers, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::Integer T = std::int64_t, ), integers, integers<T>,
              (detail::Integer auto low, detail::Integer auto high, ), (, low, high))

/// Bools that are true with the given probability, rounded to a multiple of 2^-32. If each cell has
/// its own probability, write uniform<float>(key) < p instead.
/// Throws:  UsageError unless the probability is in [0, 1].
/// Example: u(random::bernoulli(key, 0.1)) = 0;
[[nodiscard]] inline auto bernoulli(StepKey const& key, double probability) {
  return detail::RandomNode<detail::BernoulliNumbers>(
      detail::BernoulliNumbers(detail::scaled_probability(probability)), key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((), bernoulli, bernoulli, (double probability, ), (, probability))

/// The category numbers 0, 1 ..., drawn with these probabilities, each rounded to a multiple of
/// 2^-32. A category of probability 0 is never drawn.
/// Throws:  UsageError unless all probabilities are in [0, 1] and their sum is within 1e-6 of 1.
/// Example: kind = random::categorical<std::uint8_t>(key, {0.2, 0.3, 0.5});
template <detail::Integer T = std::int64_t, std::size_t N>
[[nodiscard]] auto categorical(StepKey const& key, double const (&probabilities)[N]) {
  auto const numbers = detail::random_categories<T, N>(probabilities);
  return detail::RandomNode<std::remove_const_t<decltype(numbers)>>(numbers, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::Integer T = std::int64_t, std::size_t K, ), categorical, categorical<T>,
              (double const (&probabilities)[K], ), (, probabilities))

#undef TESSERA_DRAWN
#undef TESSERA_LIST

}  // namespace random
}  // namespace tessera
