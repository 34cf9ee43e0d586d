#pragma once
/// @file
/// The functions under test, each with the ones of the same name in <cmath> and MPFR, and the loops
/// in which programs call them.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <mpfr.h>

#include "tessera/detail/kernels/formulas/exponential.hpp"
#include "tessera/detail/kernels/formulas/hyperbolic.hpp"
#include "tessera/detail/kernels/formulas/logarithm.hpp"
#include "tessera/detail/kernels/formulas/power.hpp"
#include "tessera/detail/kernels/formulas/values.hpp"

#include "src/kernels/formulas/make_loops.hpp"

namespace tessera::test {

/// A function of one argument. `wide` is that of <cmath> for a type with more bits, and
/// `largest_error` is in units of the last place.
#define TESSERA_UNDER_TEST(Name, function, of_double, of_float)                           \
  struct Name {                                                                           \
    using Formula = tessera::detail::formula::Name;                                       \
    static constexpr std::string_view name = #function;                                   \
    static constexpr int arguments = 1;                                                   \
    template <class R>                                                                    \
    static constexpr double largest_error = sizeof(R) == 8 ? (of_double) : (of_float);    \
    template <class W>                                                                    \
    static W wide(W x) {                                                                  \
      return std::function(x);                                                            \
    }                                                                                     \
    static void exact(mpfr_t result, mpfr_t x) { mpfr_##function(result, x, MPFR_RNDN); } \
  };
TESSERA_UNDER_TEST(Exp, exp, 0.90, 0.91)
TESSERA_UNDER_TEST(Exp2, exp2, 0.83, 0.82)
TESSERA_UNDER_TEST(Expm1, expm1, 0.74, 0.71)
TESSERA_UNDER_TEST(Log, log, 0.85, 0.90)
TESSERA_UNDER_TEST(Log2, log2, 0.71, 0.73)
TESSERA_UNDER_TEST(Log10, log10, 0.66, 0.68)
TESSERA_UNDER_TEST(Log1p, log1p, 0.66, 0.67)
TESSERA_UNDER_TEST(Sinh, sinh, 0.68, 0.68)
TESSERA_UNDER_TEST(Cosh, cosh, 0.61, 0.63)
TESSERA_UNDER_TEST(Tanh, tanh, 0.64, 0.64)
#undef TESSERA_UNDER_TEST

struct Pow {
  using Formula = tessera::detail::formula::Pow;
  static constexpr std::string_view name = "pow";
  static constexpr int arguments = 2;
  template <class R>
  static constexpr double largest_error = sizeof(R) == 8 ? 0.77 : 0.51;
  template <class W>
  static W wide(W x, W y) {
    return std::pow(x, y);
  }
  static void exact(mpfr_t result, mpfr_t x, mpfr_t y) { mpfr_pow(result, x, y, MPFR_RNDN); }
};

/// Calls `body.template operator()<Function>()` for every function of one argument.
template <class Body>
void for_each_function(Body const& body) {
  auto const call = [&]<class... F>() { (body.template operator()<F>(), ...); };
  call.template operator()<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sinh, Cosh, Tanh>();
}

/// The arguments of a loop; `y` is read by functions of two arguments only.
template <class R>
struct Arguments {
  R const* x;
  R const* y;
  std::size_t count;
};
template <class F, class R>
TESSERA_FORMULA R value_at(Arguments<R> const& of, std::size_t j) {
  if constexpr (F::arguments == 2)
    return F::Formula::usual(of.x[j], of.y[j]);
  else
    return tessera::detail::value_by<typename F::Formula>(of.x[j]);
}
/// The library's loop.
template <class F, class R>
void compute(Arguments<R> of, R* result) {
  auto const count = static_cast<std::int64_t>(of.count);
  if constexpr (F::arguments == 2)
    tessera::detail::compute_all<typename F::Formula>(of.x, of.y, result, count);
  else
    tessera::detail::compute_all<typename F::Formula>(of.x, result, count);
}

// The same for three instruction sets. The first one is no vector loop, for the baseline has no
// fused steps.
template <class F, class R>
void loop_of_baseline(Arguments<R> of, R* result) {
  for (std::size_t j = 0; j < of.count; ++j) result[j] = value_at<F>(of, j);
}
template <class F, class R>
[[gnu::target("avx2,fma"), gnu::flatten]] void loop_of_avx2(Arguments<R> of, R* result) {
  compute<F>(of, result);
}
template <class F, class R>
[[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"), gnu::flatten]] void
loop_of_avx512(Arguments<R> of, R* result) {
  compute<F>(of, result);
}

inline bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
inline bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
/// The fastest loop that this processor has.
template <class F, class R>
void fast_loop(Arguments<R> of, R* result) {
  if (has_avx2())
    loop_of_avx2<F>(of, result);
  else
    loop_of_baseline<F>(of, result);
}

}  // namespace tessera::test
