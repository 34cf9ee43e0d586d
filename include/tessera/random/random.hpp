#pragma once
/// @file
/// Random numbers by counters: a cell's number depends on a key and on the cell, not on the devices
/// or on what was drawn before.
///
/// Each distribution is an array of a shape, or an expression without one: its shape is that of the
/// statement around it. Cell i, counted in row-major order in the index space of the statement, has
/// the same bits for any number, layout and kind of devices. Of a slice that is assigned, that is
/// the number in the slice; in an expression that is sliced or transposed, the number in that
/// expression as it was before.

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

/// The types of random numbers that are not whole.
template <class T>
concept RandomFloating = std::is_same_v<T, float> || std::is_same_v<T, double> || is_half<T>;

/// A new array of the numbers that an expression has for a shape.
template <class D, std::size_t N>
[[nodiscard]] DistArray<typename D::value_type, N> drawn(RandomNode<D> const& numbers,
                                                         std::array<std::int64_t, N> const& shape,
                                                         NamedSharding const& sharding,
                                                         std::source_location const& at) {
  DistArray<typename D::value_type, N> result(Shape(shape), sharding);
  assign_to_view(result.view(at), numbers, at);
  return result;
}

/// Whether an integer T holds what is one below an integer.
template <class T, class H>
[[nodiscard]] constexpr bool holds_below(H high) {
  if constexpr (std::is_signed_v<H>)
    return std::in_range<T>(std::int64_t{high} - 1);
  else
    return high == 0 ? std::is_signed_v<T> : std::in_range<T>(std::uint64_t{high} - 1);
}
/// Throws: UsageError unless low < high and T holds low and high - 1.
template <class T, class L, class H>
[[nodiscard]] RandomIntegers<T> random_integers(L low, H high) {
  if (!std::in_range<T>(low) || !std::cmp_less(low, high) || !holds_below<T>(high))
    refuse_integers(std::to_string(low), std::to_string(high), dtype_name<T>());
  auto const count = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return {static_cast<T>(low), count, rejected_of<IntegerBits<T>>(count)};
}

/// Throws: UsageError unless T holds the number of each category, and as pieces_of.
template <class T, std::size_t N>
[[nodiscard]] auto random_categories(double const* probabilities) {
  std::uint64_t ends[N];
  pieces_of({probabilities, N}, ends);
  if (!std::in_range<T>(N - 1)) refuse_integers("0", std::to_string(N), dtype_name<T>());
  CategoricalNumbers<T, N - 1> result;
  for (std::size_t k = 0; k + 1 < N; ++k) {
    if (ends[k] == 0) ++result.first;
    result.lasts[k] = ends[k] == 0 ? ~std::uint32_t{0} : static_cast<std::uint32_t>(ends[k] - 1);
  }
  return result;
}

}  // namespace detail

/// Random numbers: keys and distributions.
namespace random {

// A distribution as an array, name(key, more arguments, shape, sharding): the numbers that the
// expression name(key, more arguments) has in a statement of this shape. More parameters and
// arguments stand in parentheses, each with a comma.
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

/// Numbers of [0, 1), all equally likely: 53 bits of double, 24 of float, 11 of float16 and 8 of
/// bfloat16.
///
/// Shapes:  those of the statement.
/// Example: w *= random::uniform<float>(key) < 0.9F;
template <detail::RandomFloating T = double>
[[nodiscard]] auto uniform(StepKey const& key) {
  return detail::RandomNode<detail::UniformNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), uniform, uniform<T>, (), ())

/// Numbers of the normal distribution of mean 0 and deviation 1, by Box and Muller's formula. Their
/// magnitude is at most 6.8 (float and 16 bits) or 9.5 (double).
/// Example: u = mean + deviation * random::normal<double>(key);
template <detail::RandomFloating T = double>
[[nodiscard]] auto normal(StepKey const& key) {
  return detail::RandomNode<detail::NormalNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), normal, normal<T>, (), ())

/// Numbers of the exponential distribution of rate 1, whose mean is 1.
/// Example: waits = random::exponential<double>(key) / rate;
template <detail::RandomFloating T = double>
[[nodiscard]] auto exponential(StepKey const& key) {
  return detail::RandomNode<detail::ExponentialNumbers<T>>({}, key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((detail::RandomFloating T = double, ), exponential, exponential<T>, (), ())

/// Numbers of the normal distribution of mean 0 and deviation 1, on condition that they are in
/// [low, high]; a bound may be infinite. Far out in a tail, they are as exact as in the middle.
/// Throws:  UsageError unless low < high, and if both are so far out, beyond 36, that the
///          distribution has nothing there.
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

/// Integers from `low` on and below `high`, all exactly equally likely.
/// Throws:  UsageError unless low < high, and if T does not hold low or high - 1.
/// Cost:    where 2^32 (2^64 for types of 64 bits) is no multiple of high - low, cells may be drawn
///          again; that is rare unless there are about half as many integers, or more.
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

/// Bools that are true with a probability, which is rounded to a multiple of 2^-32. For one that
/// differs from cell to cell write uniform<float>(key) < p.
/// Throws:  UsageError unless the probability is in [0, 1].
/// Example: u(random::bernoulli(key, 0.1)) = 0;
[[nodiscard]] inline auto bernoulli(StepKey const& key, double probability) {
  return detail::RandomNode<detail::BernoulliNumbers>(
      detail::BernoulliNumbers(detail::pieces_of(probability)), key);
}
/// The same as a new array. Ranks: collective.
TESSERA_DRAWN((), bernoulli, bernoulli, (double probability, ), (, probability))

/// The numbers of categories, 0, 1 ..., with these probabilities, each rounded to a multiple of
/// 2^-32; one of probability 0 never comes up.
/// Throws:  UsageError unless all are in [0, 1] and add up to 1, but for 1e-6.
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
