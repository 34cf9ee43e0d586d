#pragma once
/// @file
/// Keys of random numbers: the same key gives the same numbers, and keys derived from one key give
/// unrelated numbers.

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
/// Use each key once: two statements with the same key get the same numbers. Derive a separate key
/// for each statement by split, fold_in or at.
/// Ranks:   local; all processes derive the same keys.
/// Example: auto const [k1, k2] = ts::random::Key(42).split<2>();
class Key {
 public:
  /// The key of these 64 bits. Neighbouring seeds give unrelated numbers.
  explicit constexpr Key(std::uint64_t seed) : bits_(seed) {}

  /// Derives `n` keys. A smaller n gives the first of them.
  template <std::size_t n>
  [[nodiscard]] std::array<Key, n> split() const {
    return split(std::make_index_sequence<n>());
  }
  /// Throws: UsageError if n is negative; Error, with the size, if memory for the keys runs out.
  [[nodiscard]] std::vector<Key> split(std::int64_t n) const;
  /// Derives the key of a number, such as a network's layer or an iteration. It is unrelated to the
  /// keys that split gives.
  [[nodiscard]] Key fold_in(detail::Integer auto number) const {
    return Key(
        detail::derived_key(bits_, detail::draw_of_fold_in, static_cast<std::uint64_t>(number)));
  }
  /// Derives the key of a loop's step. Each step has its own, in the replay of a recorded loop too.
  /// Example: iterate(100, [&](Step t) { u += 0.1 * random::normal<double>(key.at(t)); });
  [[nodiscard]] StepKey at(Step step) const;
  [[nodiscard]] StepKey at(detail::LaterStep const& step) const;
  /// Derives the key of a step given as a plain number, such as the index of a loop of your own:
  /// at(5) is the key of step 5.
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

/// A key that depends on the step of a loop, as Key::at gives it, or a key derived from one. A Key
/// converts to a StepKey that is the same in all steps.
///
/// Ranks:   local; all processes derive the same keys.
class StepKey {
 public:
  StepKey(Key key) : bits_(key.value()) {}  // NOLINT: converts implicitly
  StepKey(Key key, Step step, std::int64_t later);

  /// As Key::split and Key::fold_in.
  /// Throws: UsageError after more than 4 derivations.
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
  /// The key's 64 bits in step number `step`.
  [[nodiscard]] TESSERA_FUNCTION std::uint64_t value_at(std::int64_t step) const {
    auto bits = bits_;
    if (has_step_)
      bits = detail::derived_key(bits, detail::draw_of_step,
                                 static_cast<std::uint64_t>(step + later_));
    for (int i = 0; i < count_; ++i) bits = detail::derived_key(bits, draws_[i], numbers_[i]);
    return bits;
  }
  /// The same key without the number of the current step; a kernel passes that to value_at.
  [[nodiscard]] StepKey without_number() const {
    auto result = *this;
    result.number_ = 0;
    return result;
  }
  /// Derives key `number` by a draw such as detail::draw_of_split.
  /// Throws: UsageError after more than 4 derivations.
  [[nodiscard]] StepKey derived(std::uint64_t draw, std::uint64_t number) const;
  /// Passes all that defines the key, except the number of the current step.
  void pass_numbers(detail::NumberVisitor& visitor) const;

 private:
  static constexpr int most_derivations = 4;

  template <std::size_t... i>
  [[nodiscard]] std::array<StepKey, sizeof...(i)> split(std::index_sequence<i...>) const {
    return {derived(detail::draw_of_split, i)...};
  }

  std::uint64_t bits_;
  bool has_step_ = false;
  std::int64_t number_ = 0;  ///< the number of the step in which the statement is built
  std::int64_t later_ = 0;   ///< steps from there to the step of the key; may be negative
  int count_ = 0;            ///< derivations after that of the step
  std::uint64_t draws_[most_derivations] = {};
  std::uint64_t numbers_[most_derivations] = {};
};

}  // namespace tessera::random
