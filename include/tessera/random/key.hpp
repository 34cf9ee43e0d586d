#pragma once
/// @file
/// Keys of random numbers: the same key gives the same numbers, and keys that are made of one give
/// unrelated ones.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "tessera/array/slice.hpp"
#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/random/philox.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::random {

class StepKey;

/// The key of a stream of random numbers: 64 bits, a value.
///
/// A key is used once. Two statements that use one key get the same numbers; make a key of its own
/// for each by split, fold_in or at. The keys made are the same on every process.
/// Ranks:   local; all processes make the same keys.
/// Example: auto const [k1, k2] = ts::random::Key(42).split<2>();
class Key {
 public:
  /// The key of these 64 bits. Keys of neighbouring seeds have nothing in common.
  explicit constexpr Key(std::uint64_t seed) : bits_(seed) {}

  /// `n` keys, of which the first are those of any smaller n.
  template <std::size_t n>
  [[nodiscard]] std::array<Key, n> split() const {
    return split(std::make_index_sequence<n>());
  }
  /// Throws: UsageError if n is negative; Error, with the size, if there is no memory for so many.
  [[nodiscard]] std::vector<Key> split(std::int64_t n) const;
  /// The key of a number, as that of a layer of a network or of an iteration. Not one of split's.
  [[nodiscard]] Key fold_in(detail::Integer auto number) const {
    return Key(
        detail::derived_key(bits_, detail::draw_of_fold_in, static_cast<std::uint64_t>(number)));
  }
  /// The key of a step of a loop: another one in each step, also where a recorded loop is replayed.
  /// Example: iterate(100, [&](Step t) { u += 0.1 * random::normal<double>(key.at(t)); });
  [[nodiscard]] StepKey at(Step step) const;
  [[nodiscard]] StepKey at(detail::LaterStep const& step) const;
  /// The same key for a plain number, such as that of a loop of your own: at(5) is the key of
  /// step 5.
  [[nodiscard]] Key at(detail::Integer auto number) const {
    return Key(
        detail::derived_key(bits_, detail::draw_of_step, static_cast<std::uint64_t>(number)));
  }

  /// The 64 bits of the key.
  [[nodiscard]] constexpr std::uint64_t value() const { return bits_; }
  friend constexpr bool operator==(Key, Key) = default;
  friend std::ostream& operator<<(std::ostream& out, Key key);

 private:
  template <std::size_t... i>
  [[nodiscard]] std::array<Key, sizeof...(i)> split(std::index_sequence<i...>) const {
    return {Key(detail::derived_key(bits_, detail::draw_of_split, i))...};
  }

  std::uint64_t bits_;
};

/// A key of each step of a loop, made by Key::at, and keys made of it. Any Key is one that is the
/// same in all steps.
///
/// Ranks:   local; all processes make the same keys.
class StepKey {
 public:
  StepKey(Key key) : bits_(key.value()) {}  // NOLINT: a key is one
  StepKey(Key key, Step step, std::int64_t later);

  /// As those of Key. Throws: UsageError after more than 4 of them.
  template <std::size_t n>
  [[nodiscard]] std::array<StepKey, n> split() const {
    return split(std::make_index_sequence<n>());
  }
  [[nodiscard]] StepKey fold_in(detail::Integer auto number) const {
    return derived(detail::draw_of_fold_in, static_cast<std::uint64_t>(number));
  }

  /// The step whose number the key depends on, if any.
  [[nodiscard]] std::optional<Step> step() const {
    return has_step_ ? std::optional(Step(number_)) : std::nullopt;
  }
  /// The key's 64 bits in a step.
  [[nodiscard]] TESSERA_FUNCTION std::uint64_t value_at(std::int64_t step) const {
    auto bits = bits_;
    if (has_step_)
      bits = detail::derived_key(bits, detail::draw_of_step,
                                 static_cast<std::uint64_t>(step + later_));
    for (int i = 0; i < count_; ++i) bits = detail::derived_key(bits, draws_[i], numbers_[i]);
    return bits;
  }
  /// The same key for a kernel, which is told the number of the step.
  [[nodiscard]] StepKey without_number() const {
    auto result = *this;
    result.number_ = 0;
    return result;
  }
  /// The key that a draw makes of a number. Throws: UsageError after more than 4 of them.
  [[nodiscard]] StepKey derived(std::uint64_t draw, std::uint64_t number) const;
  /// What the key is made of, but for the number of the step.
  void pass_numbers(detail::NumberVisitor& visitor) const;

 private:
  static constexpr int most_derivations = 4;

  template <std::size_t... i>
  [[nodiscard]] std::array<StepKey, sizeof...(i)> split(std::index_sequence<i...>) const {
    return {derived(detail::draw_of_split, i)...};
  }

  std::uint64_t bits_;
  bool has_step_ = false;
  std::int64_t number_ = 0;  ///< of the step in which the statement is built
  std::int64_t later_ = 0;
  int count_ = 0;  ///< keys that were made one of another after the step's
  std::uint64_t draws_[most_derivations] = {};
  std::uint64_t numbers_[most_derivations] = {};
};

}  // namespace tessera::random
