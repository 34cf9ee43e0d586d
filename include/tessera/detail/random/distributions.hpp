#pragma once
/// @file
/// Distributions: how a cell's number is made of its random bits.
///
/// Each has raw_at(key, i), what cell i is made of; fill(), the same for the cells of whole blocks;
/// finish(raw), the cell's value, which loops compute beside the rest of an expression; and
/// pass_numbers(visitor), its parameters.

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

/// Cells whose raw number are their bits, in words of 32 or 64.
template <class Word>
struct OfWords {
  using Raw = Word;
  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    return random_word<Word>(key, 0, i);
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_random_words(blocks, raws); }
};

/// Numbers of [0, 1): as many bits as are exact between 0.5 and 1, and so equally far apart.
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
/// The same of 16 bits.
template <class T>
requires(is_half<T>) struct UniformNumbers<T> : OfWords<std::uint32_t> {
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

/// Numbers of the standard normal distribution: of a pair of cells, one takes the cosine and the
/// other one the sine of the same angle.
template <class T>
struct NormalNumbers {
  using value_type = T;
  using Raw = Computed<T>;
  static constexpr bool is_finished = std::is_same_v<T, Raw>;  ///< raws are values

  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    auto const pair = formula::normal_pair<Raw>(first_of_pair(key, i), second_of_pair(key, i));
    return i % 2 == 0 ? pair.first : pair.second;
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const { fill_normal(blocks, raws); }
  [[nodiscard]] TESSERA_FORMULA T finish(Raw raw) const { return convert<T>(raw); }
  void pass_numbers(NumberVisitor&) const {}
  friend bool operator==(NormalNumbers const&, NormalNumbers const&) { return true; }

 private:
  TESSERA_FUNCTION static RandomBits<Raw> first_of_pair(std::uint64_t key, std::uint64_t i) {
    return random_word<RandomBits<Raw>>(key, 0, i - i % 2);
  }
  TESSERA_FUNCTION static RandomBits<Raw> second_of_pair(std::uint64_t key, std::uint64_t i) {
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

/// Numbers of the standard normal distribution between two bounds.
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

/// The bits that integers of type T are made of.
template <class T>
using IntegerBits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Integers from `low` on, `count` of them, without bias: the upper half of the product of the bits
/// and the count. Of the 2^32 or 2^64 products, those are rejected whose lower half is less than
/// `rejected`, and the rest are as many for each integer. A cell then takes the bits that it has in
/// the next draw.
///
/// Source: Lemire, Fast random integer generation in an interval (2019).
template <class T>
struct RandomIntegers {
  using value_type = T;
  using Raw = IntegerBits<T>;
  T low;
  std::uint64_t count;     ///< at most 2^32 of words of 32 bits
  std::uint64_t rejected;  ///< 2^32 or 2^64 modulo the count

  [[nodiscard]] TESSERA_FORMULA bool is_rejected(Raw bits) const {
    return static_cast<Raw>(bits * static_cast<Raw>(count)) < static_cast<Raw>(rejected);
  }
  [[nodiscard]] TESSERA_FUNCTION Raw raw_at(std::uint64_t key, std::uint64_t i) const {
    auto bits = random_word<Raw>(key, 0, i);
    for (std::uint64_t draw = 1; is_rejected(bits); ++draw) bits = random_word<Raw>(key, draw, i);
    return bits;
  }
  void fill(PhiloxBlocks const& blocks, Raw* raws) const {
    fill_random_words(blocks, raws);
    if (rejected == 0) return;
    constexpr std::int64_t per_block = 16 / sizeof(Raw);
    auto const cells = blocks.count * per_block;
    Raw is_any = 0;
    for (std::int64_t j = 0; j < cells; ++j)
      is_any = static_cast<Raw>(is_any | (is_rejected(raws[j]) ? 1U : 0U));
    if (is_any == 0) return;
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

/// Bools that are true for the lowest `count` of 2^32 equal pieces.
struct BernoulliNumbers : OfWords<std::uint32_t> {
  using value_type = bool;
  std::uint32_t count;
  std::uint32_t all;  ///< 1 for all pieces, which `count` cannot say, else 0

  explicit BernoulliNumbers(std::uint64_t pieces)
      : count(static_cast<std::uint32_t>(pieces)), all(static_cast<std::uint32_t>(pieces >> 32U)) {}
  [[nodiscard]] TESSERA_FORMULA bool finish(Raw bits) const {
    return ((bits < count ? 1U : 0U) | all) != 0;
  }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.unsigned_integer(count);
    visitor.unsigned_integer(all);
  }
  friend bool operator==(BernoulliNumbers const& a, BernoulliNumbers const& b) {
    return a.count == b.count && a.all == b.all;
  }
};

/// Numbers of categories: how many of them end before the piece, of 2^32, that a cell's bits name.
template <class T, std::size_t N>
struct CategoricalNumbers : OfWords<std::uint32_t> {
  using value_type = T;
  using Raw = std::uint32_t;
  T first = 0;  ///< the categories that end before every piece
  /// The last piece of each further category but the last; all bits where there is none.
  std::array<Raw, N> lasts;

  [[nodiscard]] TESSERA_FORMULA T finish(Raw bits) const {
    Raw before = 0;
    for (std::size_t k = 0; k < N; ++k) before += bits > lasts[k] ? 1U : 0U;
    return static_cast<T>(first + static_cast<T>(before));
  }
  void pass_numbers(NumberVisitor& visitor) const {
    visitor.signed_integer(static_cast<std::int64_t>(first));
    for (auto const last : lasts) visitor.unsigned_integer(last);
  }
  friend bool operator==(CategoricalNumbers const& a, CategoricalNumbers const& b) {
    return a.first == b.first && a.lasts == b.lasts;
  }
};

/// The share of the normal distribution between two bounds.
/// Throws: UsageError unless low < high, or if so far out no number is left.
[[nodiscard]] NormalInterval<float> normal_interval(float low, float high);
[[nodiscard]] NormalInterval<double> normal_interval(double low, double high);

/// How many of 2^32 pieces a probability is, rounded.
/// Throws: UsageError unless it is in [0, 1].
[[nodiscard]] std::uint64_t pieces_of(double probability);

/// Writes the number of pieces up to the end of each category.
/// Throws: UsageError unless all probabilities are in [0, 1] and add up to 1, but for 1e-6.
void pieces_of(std::span<double const> probabilities, std::span<std::uint64_t> ends);

/// Says that integers from `low` and below `high` cannot be drawn.
[[noreturn]] void refuse_integers(std::string const& low, std::string const& high,
                                  std::string const& dtype);

/// 2^32 or 2^64 modulo a count of integers that is not 0.
template <class Raw>
[[nodiscard]] std::uint64_t rejected_of(std::uint64_t count) {
  if constexpr (sizeof(Raw) == 8)
    return (0 - count) % count;
  else
    return (std::uint64_t{1} << 32U) % count;
}

}  // namespace tessera::detail
