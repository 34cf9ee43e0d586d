#pragma once
/// @file
/// The elementary functions: their numbers, and their values for many arguments at once.
///
/// A value depends on its argument alone: not on its neighbours, nor on the processor's vectors,
/// nor on the place in a block. It is computed with floating-point numbers rounded to nearest.

#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

/// Functions of one argument; angles are in radians.
enum class Function : std::uint8_t {
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  tanh,
  cbrt,
  erf,
  erfc,
  tgamma,
  lgamma,
};
inline constexpr std::size_t function_count = static_cast<std::size_t>(Function::lgamma) + 1;

/// Functions of two arguments.
enum class Function2 : std::uint8_t { pow, atan2, hypot };
inline constexpr std::size_t function2_count = static_cast<std::size_t>(Function2::hypot) + 1;

/// Writes the function's value for each of `count` arguments.
/// Lifetime: the values must not overlap the arguments.
/// Threads: any.
/// Cost:    vectors of the processor that runs it, whatever the caller was compiled for.
void compute(Function function, float const* arguments, float* values, std::int64_t count);
void compute(Function function, double const* arguments, double* values, std::int64_t count);

/// Writes the function of first[i] and second[i]. The values must not overlap these.
void compute(Function2 function, float const* first, float const* second, float* values,
             std::int64_t count);
void compute(Function2 function, double const* first, double const* second, double* values,
             std::int64_t count);

}  // namespace tessera::detail

#if defined(TESSERA_COMPILES_FOR_GPUS)
#include "tessera/detail/kernels/formulas/values.hpp"
namespace tessera::detail {

/// The value for one argument: the same bits as in a block.
template <Function function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_of(R x) {
  return value_by_formula<function>(x);
}
template <Function2 function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_of(R x, R y) {
  return value_by_formula<function>(x, y);
}

}  // namespace tessera::detail
#else
namespace tessera::detail {

template <Function function, class R>
[[nodiscard]] R value_of(R x) {
  R value;
  compute(function, &x, &value, 1);
  return value;
}
template <Function2 function, class R>
[[nodiscard]] R value_of(R x, R y) {
  R value;
  compute(function, &x, &y, &value, 1);
  return value;
}

}  // namespace tessera::detail
#endif
