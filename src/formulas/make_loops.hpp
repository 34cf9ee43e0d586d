#pragma once
/// @file
/// Makes the loops of one kind of processor from the formulas.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tessera/detail/formulas/values.hpp"

#include "src/formulas/loops.hpp"

namespace tessera::detail {

/// An integer as wide as R, so that a loop counts in the vectors that it compares in.
template <class R>
using CountOf = std::conditional_t<sizeof(R) == 4, std::int32_t, std::int64_t>;

/// The arguments that are looked at together for rare ones.
inline constexpr std::int64_t arguments_at_once = 256;

/// Not inlined, so that the loop around it stays short.
template <class F, class R>
[[gnu::noinline]] R value_of_rare(R x) {
  return F::rare(x);
}

/// Computes the rare arguments of a block alone, and all others in vectors.
template <class F, class R>
void compute_with_rare(R* x, std::int64_t count) {
  CountOf<R> rare = 0;
  for (std::int64_t j = 0; j < count; ++j) rare += F::is_rare(x[j]) ? 1 : 0;
  R values[arguments_at_once];
  std::int16_t places[arguments_at_once];
  std::int64_t found = 0;
  for (std::int64_t j = 0; found < rare; ++j) {
    if (!F::is_rare(x[j])) continue;
    values[found] = value_of_rare<F>(x[j]);
    places[found++] = static_cast<std::int16_t>(j);
  }
  for (std::int64_t j = 0; j < count; ++j) x[j] = F::usual(x[j]);
  for (std::int64_t i = 0; i < found; ++i) x[places[i]] = values[i];
}

template <class F, class R>
void compute_all(R* x, std::int64_t count) {
  if constexpr (HasRareArguments<F, R>) {
    for (std::int64_t first = 0; first < count; first += arguments_at_once)
      compute_with_rare<F>(x + first, std::min(arguments_at_once, count - first));
  } else {
    for (std::int64_t j = 0; j < count; ++j) x[j] = F::usual(x[j]);
  }
}
template <class F, class R>
void compute_all(R* x, R const* y, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j) x[j] = F::usual(x[j], y[j]);
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
  static void run(R* x, std::int64_t count) {
    compute_all<F>(x, count);
  }
  template <class F, class R>
  static void run2(R* x, R const* y, std::int64_t count) {
    compute_all<F>(x, y, count);
  }
};
inline constexpr ProcessorLoops loops_for_any_processor = loops_of<AnyProcessor>("any processor");

}  // namespace tessera::detail
