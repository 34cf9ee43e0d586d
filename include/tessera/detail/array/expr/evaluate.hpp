#pragma once
/// @file
/// Expressions of scalars alone have a value on the host.

#include "tessera/array/scalar.hpp"
#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/nodes.hpp"

namespace tessera::detail {

/// The value of an expression without dimensions, as sqrt(sum(u * u)).
/// Ranks: collective where it reads an element of an array, else local.
template <class T>
[[nodiscard]] T evaluate(LiteralNode<T> const& node) {
  return node.value;
}
template <class T>
[[nodiscard]] T evaluate(Scalar<T> const& scalar) {
  return scalar.value();
}
template <class T, std::size_t R>
[[nodiscard]] T evaluate(ArrayNode<T, 0, R> const& node) {
  return element_of(node);
}
template <class Op, class C, class A>
[[nodiscard]] auto evaluate(UnaryNode<Op, C, A> const& node) {
  static_assert(A::rank == 0, "only an expression without dimensions is one value");
  return Op::apply(convert<C>(evaluate(node.a)));
}
template <class Op, class C, class A, class B>
[[nodiscard]] auto evaluate(BinaryNode<Op, C, A, B> const& node) {
  static_assert(A::rank == 0 && B::rank == 0, "only an expression without dimensions is one value");
  return Op::apply(convert<C>(evaluate(node.a)), convert<C>(evaluate(node.b)));
}

}  // namespace tessera::detail
