#pragma once
/// @file
/// The formula of each function, and its value for one argument.

#include <concepts>
#include <cstdint>

#include "tessera/detail/base/function.hpp"
#include "tessera/detail/kernels/formulas/arcsine.hpp"
#include "tessera/detail/kernels/formulas/arctangent.hpp"
#include "tessera/detail/kernels/formulas/error_function.hpp"
#include "tessera/detail/kernels/formulas/exponential.hpp"
#include "tessera/detail/kernels/formulas/functions.hpp"
#include "tessera/detail/kernels/formulas/gamma.hpp"
#include "tessera/detail/kernels/formulas/hyperbolic.hpp"
#include "tessera/detail/kernels/formulas/log_gamma.hpp"
#include "tessera/detail/kernels/formulas/logarithm.hpp"
#include "tessera/detail/kernels/formulas/power.hpp"
#include "tessera/detail/kernels/formulas/roots.hpp"
#include "tessera/detail/kernels/formulas/sine.hpp"

namespace tessera::detail {

/// A formula that has another way for some arguments: usual() is not asked for their values. It has
/// is_rare(x), or rarity(x), an integer that is at least least_rarity() for rare ones; then rare(x)
/// has no branches.
template <class F, class R>
concept HasRarity = requires(R x) {
  { F::rarity(x) } -> std::same_as<std::uint32_t>;
};
template <class F, class R>
concept HasRareArguments = HasRarity<F, R> || requires(R x) {
  { F::is_rare(x) } -> std::same_as<bool>;
};
template <class F, class R>
[[nodiscard]] TESSERA_FUNCTION bool is_rare(R x) {
  if constexpr (HasRarity<F, R>)
    return F::rarity(x) >= F::template least_rarity<R>();
  else
    return F::is_rare(x);
}

template <Function function>
struct FormulaFor;
template <Function2 function>
struct FormulaFor2;
#define TESSERA_NAMED(name, Name)     \
  template <>                         \
  struct FormulaFor<Function::name> { \
    using type = formula::Name;       \
  };
#define TESSERA_NAMED2(name, Name)      \
  template <>                           \
  struct FormulaFor2<Function2::name> { \
    using type = formula::Name;         \
  };
TESSERA_NAMED(exp, Exp)
TESSERA_NAMED(exp2, Exp2)
TESSERA_NAMED(expm1, Expm1)
TESSERA_NAMED(log, Log)
TESSERA_NAMED(log2, Log2)
TESSERA_NAMED(log10, Log10)
TESSERA_NAMED(log1p, Log1p)
TESSERA_NAMED(sin, Sin)
TESSERA_NAMED(cos, Cos)
TESSERA_NAMED(tan, Tan)
TESSERA_NAMED(asin, Asin)
TESSERA_NAMED(acos, Acos)
TESSERA_NAMED(atan, Atan)
TESSERA_NAMED(sinh, Sinh)
TESSERA_NAMED(cosh, Cosh)
TESSERA_NAMED(tanh, Tanh)
TESSERA_NAMED(cbrt, Cbrt)
TESSERA_NAMED(erf, Erf)
TESSERA_NAMED(erfc, Erfc)
TESSERA_NAMED(tgamma, Tgamma)
TESSERA_NAMED(lgamma, Lgamma)
TESSERA_NAMED2(pow, Pow)
TESSERA_NAMED2(atan2, Atan2)
TESSERA_NAMED2(hypot, Hypot)
#undef TESSERA_NAMED
#undef TESSERA_NAMED2

template <Function function>
using FormulaOf = typename FormulaFor<function>::type;
template <Function2 function>
using FormulaOf2 = typename FormulaFor2<function>::type;

/// The value for one argument: what the loops give it in a block.
template <class F, class R>
[[nodiscard]] TESSERA_FUNCTION R value_by(R x) {
  if constexpr (HasRareArguments<F, R>)
    if (is_rare<F>(x)) return F::rare(x);
  return F::usual(x);
}
template <Function function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_by_formula(R x) {
  return value_by<FormulaOf<function>>(x);
}
template <Function2 function, class R>
[[nodiscard]] TESSERA_FUNCTION R value_by_formula(R x, R y) {
  return FormulaOf2<function>::usual(x, y);
}

}  // namespace tessera::detail
