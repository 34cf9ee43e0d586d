#pragma once
/// @file
/// The formula of each function, and its value for one argument.

#include <cmath>
#include <concepts>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/formulas/functions.hpp"

namespace tessera::detail {

/// A formula that has another way for some arguments: usual() is not asked for their values.
template <class F, class R>
concept HasRareArguments = requires(R x) {
  { F::is_rare(x) } -> std::same_as<bool>;
};

// Functions of the C library, cell by cell.
#define TESSERA_BY_C_LIBRARY(Name, function) \
  struct Name {                              \
    template <class R>                       \
    TESSERA_FUNCTION static R usual(R x) {   \
      return std::function(x);               \
    }                                        \
  };
#define TESSERA_BY_C_LIBRARY2(Name, function)   \
  struct Name {                                 \
    template <class R>                          \
    TESSERA_FUNCTION static R usual(R x, R y) { \
      return std::function(x, y);               \
    }                                           \
  };
namespace formula {
TESSERA_BY_C_LIBRARY(Exp, exp)
TESSERA_BY_C_LIBRARY(Exp2, exp2)
TESSERA_BY_C_LIBRARY(Expm1, expm1)
TESSERA_BY_C_LIBRARY(Log, log)
TESSERA_BY_C_LIBRARY(Log2, log2)
TESSERA_BY_C_LIBRARY(Log10, log10)
TESSERA_BY_C_LIBRARY(Log1p, log1p)
TESSERA_BY_C_LIBRARY(Sin, sin)
TESSERA_BY_C_LIBRARY(Cos, cos)
TESSERA_BY_C_LIBRARY(Tan, tan)
TESSERA_BY_C_LIBRARY(Asin, asin)
TESSERA_BY_C_LIBRARY(Acos, acos)
TESSERA_BY_C_LIBRARY(Atan, atan)
TESSERA_BY_C_LIBRARY(Sinh, sinh)
TESSERA_BY_C_LIBRARY(Cosh, cosh)
TESSERA_BY_C_LIBRARY(Tanh, tanh)
TESSERA_BY_C_LIBRARY(Cbrt, cbrt)
TESSERA_BY_C_LIBRARY(Erf, erf)
TESSERA_BY_C_LIBRARY(Erfc, erfc)
TESSERA_BY_C_LIBRARY(Tgamma, tgamma)
TESSERA_BY_C_LIBRARY(Lgamma, lgamma)
TESSERA_BY_C_LIBRARY2(Pow, pow)
TESSERA_BY_C_LIBRARY2(Atan2, atan2)
TESSERA_BY_C_LIBRARY2(Hypot, hypot)
}  // namespace formula
#undef TESSERA_BY_C_LIBRARY
#undef TESSERA_BY_C_LIBRARY2

template <Function function>
struct FormulaFor;
template <Function2 function>
struct FormulaFor2;
#define TESSERA_FORMULA(name, Name)   \
  template <>                         \
  struct FormulaFor<Function::name> { \
    using type = formula::Name;       \
  };
#define TESSERA_FORMULA2(name, Name)    \
  template <>                           \
  struct FormulaFor2<Function2::name> { \
    using type = formula::Name;         \
  };
TESSERA_FORMULA(exp, Exp)
TESSERA_FORMULA(exp2, Exp2)
TESSERA_FORMULA(expm1, Expm1)
TESSERA_FORMULA(log, Log)
TESSERA_FORMULA(log2, Log2)
TESSERA_FORMULA(log10, Log10)
TESSERA_FORMULA(log1p, Log1p)
TESSERA_FORMULA(sin, Sin)
TESSERA_FORMULA(cos, Cos)
TESSERA_FORMULA(tan, Tan)
TESSERA_FORMULA(asin, Asin)
TESSERA_FORMULA(acos, Acos)
TESSERA_FORMULA(atan, Atan)
TESSERA_FORMULA(sinh, Sinh)
TESSERA_FORMULA(cosh, Cosh)
TESSERA_FORMULA(tanh, Tanh)
TESSERA_FORMULA(cbrt, Cbrt)
TESSERA_FORMULA(erf, Erf)
TESSERA_FORMULA(erfc, Erfc)
TESSERA_FORMULA(tgamma, Tgamma)
TESSERA_FORMULA(lgamma, Lgamma)
TESSERA_FORMULA2(pow, Pow)
TESSERA_FORMULA2(atan2, Atan2)
TESSERA_FORMULA2(hypot, Hypot)
#undef TESSERA_FORMULA
#undef TESSERA_FORMULA2

template <Function function>
using FormulaOf = typename FormulaFor<function>::type;
template <Function2 function>
using FormulaOf2 = typename FormulaFor2<function>::type;

/// The value for one argument: what the loops give it in a block.
template <Function function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_by_formula(R x) {
  using F = FormulaOf<function>;
  if constexpr (HasRareArguments<F, R>)
    if (F::is_rare(x)) return F::rare(x);
  return F::usual(x);
}
template <Function2 function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_by_formula(R x, R y) {
  return FormulaOf2<function>::usual(x, y);
}

}  // namespace tessera::detail
