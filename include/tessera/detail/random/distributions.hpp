#pragma once
/// @file
/// Distributions: how a cell's number is made from its random bits.
///
/// Each computes a cell's value in two steps. raw_at(key, i) gives the raw number of cell i; fill()
/// gives those of whole blocks. finish(raw) turns it into the value, and can be fused into a loop
/// with the rest of an expression. pass_numbers(visitor) passes the distribution's parameters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/kernels/formulas/reduction.hpp"
#include "tessera/detail/kernels/random/fill.hpp"
#include "tessera/detail/kernels/random/formulas.hpp"
#include "tessera/detail/kernels/random/philox.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::detail {

/// The base of distributions whose raw numbers are the random bits, in words of 32 or 64 bits.
template <class Word>
struct RawWords {
  using Raw = Word;
  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    return random_word<Word>(key, 0, i);
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_random_words(blocks, raws); }
};

/// Uniform numbers in [0, 1): multiples of the spacing that T has between 0.5 and 1.
template <class T>
struct UniformNumbers {
  using value_type = T;
  using Raw = T;
  static constexpr bool is_finished = std::is_same_v<T, Raw>;  ///< raws are values

  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    return formula::uniform_number<T>(random_word<RandomBits<T>>(key, 0, i));
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_uniform(blocks, raws); }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw raw) const { return raw; }
  void pass_numbers(NumberVisitor&) const {}
  friend bool operator==(UniformNumbers const&, UniformNumbers const&) { return true; }
};
/// The same for types of 16 bits.
template <class T>
requires(is_half<T>) struct UniformNumbers<T> : RawWords<std::uint32_t> {
  using value_type = T;
  static constexpr int digits = std::is_same_v<T, bfloat16> ? 8 : 11;

  [[nodiscard]] TESSERA_FORMULA T finish(Raw bits) const {
    auto const number = static_cast<std::int32_t>(bits >> static_cast<unsigned>(32 - digits));
    constexpr float unit = 1.0F / static_cast<float>(1 << digits);
    return convert<T>(static_cast<float>(number) * unit);
  }
  void pass_numbers(NumberVisitor&) const {}
  friend bool operator==(UniformNumbers const&, UniformNumbers const&) { return true; }
};

/// Numbers of the standard normal distribution. Cells come in pairs: the even one takes the cosine
/// and the odd one the sine of the same angle.
template <class T>
struct NormalNumbers {
  using value_type = T;
  using Raw = Computed<T>;
  static constexpr bool is_finished = std::is_same_v<T, Raw>;  ///< raws are values

  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    auto const pair = formula::normal_pair<Raw>(radius_bits(key, i), angle_bits(key, i));
    return i % 2 == 0 ? pair.first : pair.second;
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_normal(blocks, raws); }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw raw) const { return convert<T>(raw); }
  void pass_numbers(NumberVisitor&) const {}
  friend bool operator==(NormalNumbers const&, NormalNumbers const&) { return true; }

 private:
  TESSERA_FUNCTION static RandomBits<Raw> radius_bits(std::uint64_t key, std::uint64_t i) {
    return random_word<RandomBits<Raw>>(key, 0, i - i % 2);
  }
  TESSERA_FUNCTION static RandomBits<Raw> angle_bits(std::uint64_t key, std::uint64_t i) {
    return random_word<RandomBits<Raw>>(key, 0, i - i % 2 + 1);
  }
};

/// Numbers of the exponential distribution of rate 1.
template <class T>
struct ExponentialNumbers {
  using value_type = T;
  using Raw = Computed<T>;
  static constexpr bool is_finished = std::is_same_v<T, Raw>;  ///< raws are values

  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    return formula::exponential_number<Raw>(random_word<RandomBits<Raw>>(key, 0, i));
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_exponential(blocks, raws); }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw raw) const { return convert<T>(raw); }
  void pass_numbers(NumberVisitor&) const {}
  friend bool operator==(ExponentialNumbers const&, ExponentialNumbers const&) { return true; }
};

/// Numbers of the standard normal distribution, truncated to an interval.
template <class T>
struct TruncatedNormalNumbers {
  using value_type = T;
  using Raw = Computed<T>;
  static constexpr bool is_finished = std::is_same_v<T, Raw>;  ///< raws are values
  NormalInterval<Raw> interval;

  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    return formula::truncated_normal_number<Raw>(interval, random_word<RandomBits<Raw>>(key, 0, i));
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_truncated(blocks, interval, raws); }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw raw) const { return convert<T>(raw); }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.real(interval.low);
    visitor.real(interval.high);
  }
  friend bool operator==(TruncatedNormalNumbers const&, TruncatedNormalNumbers const&) = default;
};

/// The word of random bits that an integer of type T is made from.
template <class T>
using IntegerBits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Unbiased integers in [low, low + count): low plus the upper half of the product of the bits and
/// `count`. Bits are rejected if the lower half of their product is less than `threshold`; the
/// others fall equally often on each integer. A rejected cell takes its bits in the next draw.
///
/// Source: Lemire, Fast random integer generation in an interval (2019).
template <class T>
struct RandomIntegers {
  using value_type = T;
  using Raw = IntegerBits<T>;
  T low;
  std::uint64_t count;      ///< at most 2^32 if Raw has 32 bits
  std::uint64_t threshold;  ///< 2^32 or 2^64 modulo `count`

  [[nodiscard]] TESSERA_FORMULA bool is_rejected(Raw bits) const {
    return static_cast<Raw>(bits * static_cast<Raw>(count)) < static_cast<Raw>(threshold);
  }
  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    auto bits = random_word<Raw>(key, 0, i);
    for (std::uint64_t draw = 1; is_rejected(bits); ++draw) bits = random_word<Raw>(key, draw, i);
    return bits;
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const {
    fill_random_words(blocks, raws);
    if (threshold == 0) return;
    constexpr std::int64_t per_block = 16 / sizeof(Raw);
    auto const cells = blocks.count * per_block;
    Raw any_rejected = 0;
    for (std::int64_t j = 0; j < cells; ++j)
      any_rejected = static_cast<Raw>(any_rejected | (is_rejected(raws[j]) ? 1U : 0U));
    if (any_rejected == 0) return;
    for (std::int64_t j = 0; j < cells; ++j)
      if (is_rejected(raws[j]))
        raws[j] = raw_at(blocks.key, blocks.first * per_block + static_cast<std::uint64_t>(j));
  }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw bits) const {
    using Bits = std::make_unsigned_t<T>;
    Raw above;
    if constexpr (sizeof(Raw) == 8)
      above = formula::upper_word(bits, count);
    else
      above = static_cast<Raw>((std::uint64_t{bits} * count) >> 32U);
    return static_cast<T>(static_cast<Bits>(static_cast<Bits>(low) + static_cast<Bits>(above)));
  }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.signed_integer(static_cast<std::int64_t>(low));
    visitor.unsigned_integer(count);
  }
  friend bool operator==(RandomIntegers const&, RandomIntegers const&) = default;
};

/// Bools that are true for bits less than `threshold`: with probability threshold / 2^32, or 1.
struct BernoulliNumbers : RawWords<std::uint32_t> {
  using value_type = bool;
  std::uint32_t threshold;
  std::uint32_t always_true;  ///< 1 for the threshold 2^32, which 32 bits cannot hold, else 0

  /// `scaled` is the probability times 2^32.
  explicit BernoulliNumbers(std::uint64_t scaled)
      : threshold(static_cast<std::uint32_t>(scaled)),
        always_true(static_cast<std::uint32_t>(scaled >> 32U)) {}
  [[nodiscard]] TESSERA_FORMULA bool finish(Raw bits) const {
    return ((bits < threshold ? 1U : 0U) | always_true) != 0;
  }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.unsigned_integer(threshold);
    visitor.unsigned_integer(always_true);
  }
  friend bool operator==(BernoulliNumbers const& a, BernoulliNumbers const& b) {
    return a.threshold == b.threshold && a.always_true == b.always_true;
  }
};

/// Numbers of categories. Each category owns a range of the 2^32 possible bits, in ascending order;
/// a cell's category is the number of ranges that end before its bits.
template <class T, std::size_t N>
struct CategoricalNumbers : RawWords<std::uint32_t> {
  using value_type = T;
  using Raw = std::uint32_t;
  T first = 0;  ///< the number of leading categories that own no bits
  /// The largest bits of each category but the very last; ~0 for those that `first` counts.
  std::array<Raw, N> last_bits;

  [[nodiscard]] TESSERA_FORMULA T finish(Raw bits) const {
    Raw before = 0;
    for (std::size_t k = 0; k < N; ++k) before += bits > last_bits[k] ? 1U : 0U;
    return static_cast<T>(first + static_cast<T>(before));
  }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.signed_integer(static_cast<std::int64_t>(first));
    for (auto const last : last_bits) visitor.unsigned_integer(last);
  }
  friend bool operator==(CategoricalNumbers const& a, CategoricalNumbers const& b) {
    return a.first == b.first && a.last_bits == b.last_bits;
  }
};

/// Computes the probabilities of the interval [low, high] under the standard normal distribution.
/// Throws: UsageError unless low < high, or if the interval is so far out in a tail, beyond about
///         36, that double cannot hold its probability.
[[nodiscard]] NormalInterval<float> normal_interval(float low, float high);
[[nodiscard]] NormalInterval<double> normal_interval(double low, double high);

/// The probability times 2^32, rounded to an integer.
/// Throws: UsageError unless it is in [0, 1].
[[nodiscard]] std::uint64_t scaled_probability(double probability);

/// Writes, for each category, the sum of the probabilities up to and including its own, times 2^32
/// and rounded.
/// Throws: UsageError unless all probabilities are in [0, 1] and their sum is within 1e-6 of 1.
void scaled_sums(std::span<double const> probabilities, std::span<std::uint64_t> ends);

/// Throws: UsageError; says that integers of type `dtype` cannot be drawn from [low, high).
[[noreturn]] void refuse_integers(std::string const& low, std::string const& high,
                                  std::string const& dtype);

/// 2^32 or 2^64 modulo `count`, which is not 0: RandomIntegers::threshold.
template <class Raw>
[[nodiscard]] std::uint64_t rejection_threshold(std::uint64_t count) {
  if constexpr (sizeof(Raw) == 8)
    return (0 - count) % count;
  else
    return (std::uint64_t{1} << 32U) % count;
}

}  // namespace tessera::detail
