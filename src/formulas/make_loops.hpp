#pragma once
/// @file
/// Makes the loops of one kind of processor from the formulas.

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tessera/detail/formulas/values.hpp"

#include "src/formulas/loops.hpp"

namespace tessera::detail {

/// An integer half as wide as R, which makes a loop compute two vectors of R in turn: while one
/// waits for its last step, the other goes on.
template <class R>
using HalfAsWide = std::conditional_t<sizeof(R) == 4, std::int16_t, std::int32_t>;

/// Not inlined, so that the loop around it stays short.
template <class F, class R>
[[gnu::noinline]] R value_of_rare(R x) {
  return F::rare(x);
}

/// Computes all in vectors, and once more the rare ones: in vectors too, or alone.
template <class F, class R>
void compute_all(R const* __restrict x, R* __restrict values, std::int64_t count) {
  if constexpr (HasRarity<F, R>) {
    std::uint32_t largest = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      auto const rarity = F::rarity(x[j]);
      largest = rarity > largest ? rarity : largest;
      values[j] = F::usual(x[j]);
    }
    if (largest < F::template least_rarity<R>()) return;
    for (std::int64_t j = 0; j < count; ++j) {
      R const rare = F::rare(x[j]);
      values[j] = is_rare<F>(x[j]) ? rare : values[j];
    }
  } else if constexpr (HasRareArguments<F, R>) {
    HalfAsWide<R> rare = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      rare = static_cast<HalfAsWide<R>>(rare | (F::is_rare(x[j]) ? 1 : 0));
      values[j] = F::usual(x[j]);
    }
    if (rare == 0) return;
    for (std::int64_t j = 0; j < count; ++j)
      if (F::is_rare(x[j])) values[j] = value_of_rare<F>(x[j]);
  } else {
    for (std::int64_t j = 0; j < count; ++j) values[j] = F::usual(x[j]);
  }
}
template <class F, class R>
void compute_all(R const* __restrict x, R const* __restrict y, R* __restrict values,
                 std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) values[j] = F::usual(x[j], y[j]);
}

/// The table of a kind of processor: Kind::run calls compute_all, compiled for it.
template <class Kind, class R, std::size_t... one, std::size_t... two>
[[nodiscard]] constexpr Loops<R> loops_of(std::index_sequence<one...>,
                                          std::index_sequence<two...>) {
  return {{&Kind::template run<FormulaOf<static_cast<Function>(one)>, R>...},
          {&Kind::template run2<FormulaOf2<static_cast<Function2>(two)>, R>...}};
}
template <class Kind>
[[nodiscard]] constexpr ProcessorLoops loops_of(char const* name) {
  std::make_index_sequence<function_count> const one;
  std::make_index_sequence<function2_count> const two;
  return {name, loops_of<Kind, float>(one, two), loops_of<Kind, double>(one, two)};
}

/// Code that runs on any processor.
struct AnyProcessor {
  template <class F, class R>
  static void run(R const* x, R* values, std::int64_t count) {
    compute_all<F>(x, values, count);
  }
  template <class F, class R>
  static void run2(R const* x, R const* y, R* values, std::int64_t count) {
    compute_all<F>(x, y, values, count);
  }
};
inline constexpr ProcessorLoops loops_for_any_processor = loops_of<AnyProcessor>("any processor");

}  // namespace tessera::detail
