#pragma once
/// @file
/// Makes the loops of one kind of processor from the formulas.

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tessera/detail/kernels/formulas/values.hpp"

#include "src/kernels/formulas/loops.hpp"

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

/// The loops as a processor's run() takes them.
template <class F, class R>
struct ComputeAll {
  static void run(R const* x, R* values, std::int64_t count) { compute_all<F>(x, values, count); }
};
template <class F, class R>
struct ComputeAll2 {
  static void run(R const* x, R const* y, R* values, std::int64_t count) {
    compute_all<F>(x, y, values, count);
  }
};

template <class Processor, class R, std::size_t... one, std::size_t... two>
[[nodiscard]] constexpr Loops<R> make_loops(std::index_sequence<one...>,
                                            std::index_sequence<two...>) {
  return {{&Processor::template run<ComputeAll<FormulaOf<static_cast<Function>(one)>, R>, R const*,
                                    R*, std::int64_t>...},
          {&Processor::template run<ComputeAll2<FormulaOf2<static_cast<Function2>(two)>, R>,
                                    R const*, R const*, R*, std::int64_t>...}};
}
/// The loops for a kind of processor: Processor::run<F>(arguments...) calls F::run, compiled for
/// it.
template <class Processor>
[[nodiscard]] constexpr FormulaLoops make_formula_loops() {
  std::make_index_sequence<function_count> const one;
  std::make_index_sequence<function2_count> const two;
  return {make_loops<Processor, float>(one, two), make_loops<Processor, double>(one, two)};
}

}  // namespace tessera::detail
