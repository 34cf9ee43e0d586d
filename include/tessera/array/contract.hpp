#pragma once
/// @file
/// contract: products that are fused into the sums above them.

#include <concepts>
#include <type_traits>
#include <utility>

#include "tessera/detail/array/expr/nodes.hpp"
#include "tessera/detail/array/expr/operations.hpp"

namespace tessera {
namespace detail {

/// True of types whose sums and products are rounded.
template <class C>
inline constexpr bool is_rounded = is_floating<C> || is_complex<C>;

/// True of a product that is computed in type C, also with minus signs before it.
template <class Node, class C>
inline constexpr bool is_product = false;
template <class C, class A, class B>
inline constexpr bool is_product<BinaryNode<Multiply, C, A, B>, C> = is_rounded<C>;
template <class C, class A, class B>
inline constexpr bool is_product<BinaryNode<MultiplyFused, C, A, B>, C> = true;
template <class C, class A>
inline constexpr bool is_product<UnaryNode<Negate, C, A>, C> = is_product<A, C>;

/// True of a product whose factors have been left to the sum above it.
template <class Node>
inline constexpr bool is_factors = false;
template <class C, class A, class B>
inline constexpr bool is_factors<BinaryNode<KeepFactors, C, A, B>> = true;

/// Fuses products in all of a node. Numbers, arrays and all else that is no operation stay.
struct Contract {
  template <class Node>
  [[nodiscard]] Node operator()(Node const& node) const {
    return node;
  }
  template <class Op, class C, class A>
  [[nodiscard]] auto operator()(UnaryNode<Op, C, A> const& node) const;
  template <class Op, class C, class A, class B>
  [[nodiscard]] auto operator()(BinaryNode<Op, C, A, B> const& node) const;
  template <class Condition, class A, class B>
  [[nodiscard]] auto operator()(WhereNode<Condition, A, B> const& node) const;
};
/// The factors of a product, in which products are fused; a minus sign goes to the first of them.
struct ContractFactors {
  template <class Op, class C, class A, class B>
  [[nodiscard]] auto operator()(BinaryNode<Op, C, A, B> const& product) const;
  template <class C, class A>
  [[nodiscard]] auto operator()(UnaryNode<Negate, C, A> const& negated) const;
};

template <class Make, class Node>
using Made = decltype(std::declval<Make const&>()(std::declval<Node const&>()));
template <class Op, class C, class MakeA, class MakeB, class A, class B>
[[nodiscard]] auto made_binary(A const& a, B const& b) {
  return BinaryNode<Op, C, Made<MakeA, A>, Made<MakeB, B>>(MakeA(), a, MakeB(), b);
}

template <class Op, class C, class A>
auto Contract::operator()(UnaryNode<Op, C, A> const& node) const {
  if constexpr (std::same_as<Op, Let>)
    return node;
  else
    return UnaryNode<Op, C, Made<Contract, A>>(*this, node.a);
}
template <class Op, class C, class A, class B>
auto Contract::operator()(BinaryNode<Op, C, A, B> const& node) const {
  constexpr bool is_sum = std::same_as<Op, Add> || std::same_as<Op, Subtract>;
  constexpr bool is_done = is_factors<A> || is_factors<B>;
  if constexpr (is_sum && !is_done && is_product<A, C>)
    return made_binary<Op, C, ContractFactors, Contract>(node.a, node.b);
  else if constexpr (is_sum && !is_done && is_product<B, C>)
    return made_binary<Op, C, Contract, ContractFactors>(node.a, node.b);
  else if constexpr (std::same_as<Op, Multiply> && is_complex<C>)
    return made_binary<MultiplyFused, C, Contract, Contract>(node.a, node.b);
  else
    return made_binary<Op, C, Contract, Contract>(node.a, node.b);
}
template <class Condition, class A, class B>
auto Contract::operator()(WhereNode<Condition, A, B> const& node) const {
  return WhereNode<Made<Contract, Condition>, Made<Contract, A>, Made<Contract, B>>(*this, node);
}

template <class Op, class C, class A, class B>
auto ContractFactors::operator()(BinaryNode<Op, C, A, B> const& product) const {
  return made_binary<KeepFactors, C, Contract, Contract>(product.a, product.b);
}
template <class C, class A>
auto ContractFactors::operator()(UnaryNode<Negate, C, A> const& negated) const {
  auto product = (*this)(negated.a);
  using First = UnaryNode<Negate, C, decltype(product.a)>;
  return BinaryNode<KeepFactors, C, First, decltype(product.b)>(First(product.a),
                                                                std::move(product.b));
}

}  // namespace detail

/// The expression with products fused into sums: a * b + c is computed as fma(a, b, c), which
/// rounds once instead of twice, and takes one instruction instead of two.
///
/// Fused are products that are an operand of + or - in the tree of the expression, of the same type
/// and also with a minus sign before them; of two products, a * b + c * d, the left one. So
/// everywhere below contract: in arguments of functions, in where, in slices of expressions. The
/// bits depend on the expression alone, not on the compiler, the processor or the devices. Real
/// numbers follow
///
///     a * b + c = c + a * b = fma(a, b, c)     a * b - c = fma(a, b, -c)
///     a * b + c * d = fma(a, b, c * d)         c - a * b = fma(-a, b, c)
///
/// A part of a complex product is such a sum itself: with a = (p, q) and b = (r, s), the real part
/// of a * b is fma(p, r, -(q * s)), and of a * b + c it is fma(p, r, fma(-q, s, real(c))). Elements
/// of 16 bits are fused in float and rounded once from there. Integers, and what stands above
/// contract, stay as they are: write u = contract(u + k * v) instead of u += contract(k * v).
///
/// A difference of equal products, u * v - v * u, becomes the rounding error of one of them, not 0.
/// Cost:    on a processor without fused multiply-add, or in a program compiled without it (plain
///          x86-64), each is a call of the C library.
/// Example: u(in) = contract(0.8 * u(in) + 0.1 * u(left) + 0.1 * u(right));
template <Expression E>
[[nodiscard]] auto contract(E const& expression) {
  return detail::Contract()(detail::as_node(expression));
}

}  // namespace tessera
