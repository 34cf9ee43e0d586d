#pragma once
/// @file
/// Operators and functions on arrays: lazy, fused into one loop, with NumPy's broadcasting and
/// types. C++ numbers are weak: a float array times 0.5 stays float.

#include "tessera/array/dist_array.hpp"
#include "tessera/detail/array/evaluate/reduce.hpp"
#include "tessera/detail/array/expr/nodes.hpp"
#include "tessera/detail/array/expr/operations.hpp"

namespace tessera {
namespace detail {

/// How an operation picks the type it is computed in.
struct InPromoted {
  template <class A, class B>
  using type = promoted<A, B>;
};
struct InCompared {
  template <class A, class B>
  using type = compared<A, B>;
};
struct InFloating {
  template <class A, class B>
  using type = floating_of<promoted<A, B>>;
};
struct InBool {
  template <class A, class B>
  using type = bool;
};
struct InShifted {
  template <class A, class B>
  using type = std::conditional_t<std::same_as<promoted<A, B>, bool>, std::int8_t, promoted<A, B>>;
};

template <class Op, class Rule, class A, class B>
[[nodiscard]] auto make_binary(A&& a, B&& b) {
  using NodeA = node_of<A>;
  using NodeB = node_of<B>;
  using C = typename Rule::template type<typename NodeA::value_type, typename NodeB::value_type>;
  check_operation<Op, C>();
  return BinaryNode<Op, C, NodeA, NodeB>(into_node(std::forward<A>(a)),
                                         into_node(std::forward<B>(b)));
}
/// The C++ number beside an operand of type T. One that is compared may lie beyond T, as -1 beside
/// an unsigned integer does, if T has 64 bits.
template <class Rule, class T, class S>
[[nodiscard]] auto number_beside(S number) {
  using Plain = std::conditional_t<std::is_signed_v<S>, std::int64_t, std::uint64_t>;
  constexpr bool is_integer = std::is_integral_v<S> && !std::same_as<S, bool> && sizeof(S) <= 8;
  if constexpr (std::same_as<Rule, InCompared> && is_integer && differ_in_sign<T, Plain>)
    return LiteralNode<Plain>(static_cast<Plain>(number));
  else
    return as_literal<T>(number);
}
template <class Op, class C, class A>
[[nodiscard]] auto make_unary(A const& a) {
  check_operation<Op, C>();
  return UnaryNode<Op, C, node_of<A>>(as_node(a));
}

}  // namespace detail

// One operator, between two expressions or a number and an expression `Beside` it. Temporary
// expressions are moved into the new one.
#define TESSERA_BINARY_BESIDE(Beside, name, Op, Rule)                                             \
  template <detail::Operand A, detail::Operand B>                                                 \
  [[nodiscard]] auto name(A&& a, B&& b) {                                                         \
    return detail::make_binary<detail::Op, detail::Rule>(std::forward<A>(a), std::forward<B>(b)); \
  }                                                                                               \
  template <detail::Beside A, detail::Number S>                                                   \
  [[nodiscard]] auto name(A&& a, S b) {                                                           \
    using T = typename std::remove_cvref_t<A>::value_type;                                        \
    return detail::make_binary<detail::Op, detail::Rule>(                                         \
        std::forward<A>(a), detail::number_beside<detail::Rule, T>(b));                           \
  }                                                                                               \
  template <detail::Number S, detail::Beside B>                                                   \
  [[nodiscard]] auto name(S a, B&& b) {                                                           \
    using T = typename std::remove_cvref_t<B>::value_type;                                        \
    return detail::make_binary<detail::Op, detail::Rule>(                                         \
        detail::number_beside<detail::Rule, T>(a), std::forward<B>(b));                           \
  }
#define TESSERA_BINARY(name, Op, Rule) TESSERA_BINARY_BESIDE(Operand, name, Op, Rule)

TESSERA_BINARY(operator+, Add, InPromoted)
TESSERA_BINARY(operator-, Subtract, InPromoted)
TESSERA_BINARY(operator*, Multiply, InPromoted)
TESSERA_BINARY(operator/, Divide, InFloating)
TESSERA_BINARY(operator%, Modulo, InPromoted)
// Comparisons are exact also of int64 with uint64, of which NumPy's result type is double.
TESSERA_BINARY(operator==, Equal, InCompared)
TESSERA_BINARY(operator!=, NotEqual, InCompared)
TESSERA_BINARY(operator<, Less, InCompared)
TESSERA_BINARY(operator<=, LessEqual, InCompared)
TESSERA_BINARY(operator>, Greater, InCompared)
TESSERA_BINARY(operator>=, GreaterEqual, InCompared)
// Beside a C++ bool, a value without dimensions is a bool too: `late && max(u) < 1` reduces nothing
// unless `late`.
TESSERA_BINARY_BESIDE(OperandWithCells, operator&&, And, InBool)
TESSERA_BINARY_BESIDE(OperandWithCells, operator||, Or, InBool)
TESSERA_BINARY(operator&, BitAnd, InPromoted)
TESSERA_BINARY(operator|, BitOr, InPromoted)
TESSERA_BINARY(operator^, BitXor, InPromoted)
/// Bits shifted; bools are shifted as int8. If the count is negative or not below the width, all
/// bits leave: the result is 0, or for a negative number shifted to the right -1.
TESSERA_BINARY(operator<<, ShiftLeft, InShifted)
TESSERA_BINARY(operator>>, ShiftRight, InShifted)
/// The smaller of two elements; NaN if either is.
TESSERA_BINARY(minimum, Minimum, InPromoted)
/// The larger of two elements; NaN if either is.
TESSERA_BINARY(maximum, Maximum, InPromoted)
// Of functions of real numbers, integers become double.
/// a to the power of b.
TESSERA_BINARY(pow, Power, InFloating)
/// The angle of the point (b, a) from the positive first axis, in [-pi, pi]: C's atan2(a, b).
TESSERA_BINARY(atan2, Atan2, InFloating)
/// The length of the vector (a, b), without overflow in between.
TESSERA_BINARY(hypot, Hypot, InFloating)
#undef TESSERA_BINARY
#undef TESSERA_BINARY_BESIDE

template <auto member, class V>
class Field;

// u += x is u = u + x, and u(mask) += x only where the mask is true. A target that cannot be
// written is refused before it is read.
#define TESSERA_COMPOUND(name, plain)                                           \
  template <Element T, std::size_t N, class V>                                  \
  requires(Expression<V> || detail::Number<V>) DistArray<T, N>                  \
  &name(DistArray<T, N>& to, V const& value) {                                  \
    detail::check_writable(to.storage());                                       \
    return to = to plain value;                                                 \
  }                                                                             \
  template <Element T, std::size_t N, std::size_t R, class V>                   \
  requires(Expression<V> || detail::Number<V>) View<T, N, R>                    \
  const& name(View<T, N, R> const& to, V const& value) {                        \
    detail::check_writable(to.storage());                                       \
    return to = to plain value;                                                 \
  }                                                                             \
  template <class S, class M, class V>                                          \
  requires((Expression<V> || detail::Number<V>)&&!S::is_const) MaskedView<S, M> \
  const& name(MaskedView<S, M> const& to, V const& value) {                     \
    detail::check_writable(to.view().storage());                                \
    return to = to.view() plain value;                                          \
  }                                                                             \
  template <auto member, class W, class V>                                      \
  requires((Expression<V> || detail::Number<V>)&&!W::is_const) Field<member, W> \
  const& name(Field<member, W> const& to, V const& value) {                     \
    detail::check_writable(to.storage());                                       \
    return to = to plain value;                                                 \
  }

TESSERA_COMPOUND(operator+=, +)
TESSERA_COMPOUND(operator-=, -)
TESSERA_COMPOUND(operator*=, *)
TESSERA_COMPOUND(operator/=, /)
TESSERA_COMPOUND(operator%=, %)
TESSERA_COMPOUND(operator&=, &)
TESSERA_COMPOUND(operator|=, |)
TESSERA_COMPOUND(operator^=, ^)
TESSERA_COMPOUND(operator<<=, <<)
TESSERA_COMPOUND(operator>>=, >>)
#undef TESSERA_COMPOUND

template <Expression A>
[[nodiscard]] auto operator-(A const& a) {
  return detail::make_unary<detail::Negate, typename A::value_type>(a);
}
template <Expression A>
[[nodiscard]] auto operator!(A const& a) {
  return detail::make_unary<detail::Not, bool>(a);
}
/// All bits turned round; of bools, as !a.
template <Expression A>
[[nodiscard]] auto operator~(A const& a) {
  return detail::make_unary<detail::BitNot, typename A::value_type>(a);
}
/// The magnitude; of complex numbers, of the type of their parts.
template <Expression A>
[[nodiscard]] auto abs(A const& a) {
  return detail::make_unary<detail::Absolute, typename A::value_type>(a);
}

/// The real parts, of the type of the parts; real numbers are their own.
template <Expression A>
[[nodiscard]] auto real(A const& a) {
  return detail::make_unary<detail::RealPart, typename A::value_type>(a);
}
/// The imaginary parts; those of real numbers are 0.
template <Expression A>
[[nodiscard]] auto imag(A const& a) {
  return detail::make_unary<detail::ImaginaryPart, typename A::value_type>(a);
}
/// The conjugates: imaginary parts change their sign.
template <Expression A>
[[nodiscard]] auto conj(A const& a) {
  return detail::make_unary<detail::Conjugate, typename A::value_type>(a);
}
/// The angles from the positive real numbers, in (-pi, pi]: NumPy's angle. Integers give double.
template <Expression A>
[[nodiscard]] auto arg(A const& a) {
  return detail::make_unary<detail::Argument, detail::floating_of<typename A::value_type>>(a);
}

// A function of one argument: floating and complex types stay what they are, others become double.
#define TESSERA_FLOATING(name, Op)                                                         \
  template <Expression A>                                                                  \
  [[nodiscard]] auto name(A const& a) {                                                    \
    return detail::make_unary<detail::Op, detail::floating_of<typename A::value_type>>(a); \
  }

/// The square root.
TESSERA_FLOATING(sqrt, Sqrt)
/// e to the power of each element.
TESSERA_FLOATING(exp, Exp)
/// 2 to the power of each element.
TESSERA_FLOATING(exp2, Exp2)
/// exp(u) - 1, exact to the last digits where u is small.
TESSERA_FLOATING(expm1, Expm1)
/// The natural logarithm.
TESSERA_FLOATING(log, Log)
/// The logarithm to base 2.
TESSERA_FLOATING(log2, Log2)
/// The logarithm to base 10.
TESSERA_FLOATING(log10, Log10)
/// log(1 + u), exact to the last digits where u is small.
TESSERA_FLOATING(log1p, Log1p)
/// The sine of angles in radians.
TESSERA_FLOATING(sin, Sin)
/// The cosine of angles in radians.
TESSERA_FLOATING(cos, Cos)
/// The tangent of angles in radians.
TESSERA_FLOATING(tan, Tan)
/// The angle, in [-pi/2, pi/2], whose sine is given.
TESSERA_FLOATING(asin, Asin)
/// The angle, in [0, pi], whose cosine is given.
TESSERA_FLOATING(acos, Acos)
/// The angle, in [-pi/2, pi/2], whose tangent is given.
TESSERA_FLOATING(atan, Atan)
/// The hyperbolic sine.
TESSERA_FLOATING(sinh, Sinh)
/// The hyperbolic cosine.
TESSERA_FLOATING(cosh, Cosh)
/// The hyperbolic tangent.
TESSERA_FLOATING(tanh, Tanh)
/// The cube root.
TESSERA_FLOATING(cbrt, Cbrt)
/// The error function.
TESSERA_FLOATING(erf, Erf)
/// 1 - erf(u), exact to the last digits where u is large.
TESSERA_FLOATING(erfc, Erfc)
/// The gamma function: (n - 1)! of a whole number n.
TESSERA_FLOATING(tgamma, Tgamma)
/// The natural logarithm of the gamma function's magnitude.
TESSERA_FLOATING(lgamma, Lgamma)
/// The next whole number down.
TESSERA_FLOATING(floor, Floor)
/// The next whole number up.
TESSERA_FLOATING(ceil, Ceil)
#undef TESSERA_FLOATING

/// The elements converted to T. A floating value beyond an integer T becomes the nearest value of
/// T, and NaN becomes 0. Complex elements become complex ones of another width, or bools (not
/// zero): for real values use real(u), imag(u) or abs(u).
template <Element T, Expression A>
[[nodiscard]] auto cast(A const& a) {
  return detail::make_unary<detail::CastTo<T>, typename A::value_type>(a);
}

/// condition ? a : b, cell by cell; a and b may be numbers.
template <Expression C, class A, class B>
requires(Expression<A> || Expression<B>)
    [[nodiscard]] auto where(C const& condition, A const& a, B const& b) {
  auto const node = [](auto const& operand, auto const& other) {
    using Operand = std::remove_cvref_t<decltype(operand)>;
    if constexpr (Expression<Operand>)
      return detail::as_node(operand);
    else
      return detail::as_literal<typename std::remove_cvref_t<decltype(other)>::value_type>(operand);
  };
  using NodeA = decltype(node(a, b));
  using NodeB = decltype(node(b, a));
  return detail::WhereNode<detail::node_of<C>, NodeA, NodeB>(detail::as_node(condition), node(a, b),
                                                             node(b, a));
}
template <Expression C, detail::Number A, detail::Number B>
[[nodiscard]] auto where(C const& condition, A a, B b) {
  using T = detail::weakly_promoted<detail::weakly_promoted<std::int64_t, A>, B>;
  return detail::WhereNode<detail::node_of<C>, detail::LiteralNode<T>, detail::LiteralNode<T>>(
      detail::as_node(condition), detail::LiteralNode<T>(detail::convert<T>(a)),
      detail::LiteralNode<T>(detail::convert<T>(b)));
}

/// The same expression, named because a statement reads it several times: its values are computed
/// once for all reads in a row of cells, not once for each read. The bits stay.
///
/// Reads share values at the same cells and at distances of up to 16 cells along the last
/// dimension; others compute them again, as do reads in other statements and on GPUs. Values pass
/// through a buffer in the first cache: what takes one or two operations is not worth it.
/// Example: auto const s = let(u(up) + u(in) + u(down)), with rows up, in and down of u;
///          v(in, inner) = s(all, left) + s(all, inner) + s(all, right);
template <Expression A>
[[nodiscard]] auto let(A const& a) {
  return detail::make_unary<detail::Let, typename A::value_type>(a);
}

/// The coordinate along dimension d of the statement it stands in, as int64; inside an expression
/// that is sliced, transposed or shifted, of that expression as it was before.
/// Example: u = index(0) * 10 + index(1) gives cell (2, 3) the value 23.
[[nodiscard]] inline detail::IndexNode index(std::size_t d) {
  return detail::IndexNode(d);
}

}  // namespace tessera
