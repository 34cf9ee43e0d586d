#pragma once
/// @file
/// Assignment: the one place where an expression is evaluated.

#include <type_traits>

#include "tessera/expr/build.hpp"
#include "tessera/expr/convert.hpp"
#include "tessera/expr/gpu.hpp"
#include "tessera/expr/operations.hpp"
#include "tessera/expr/row_past_caches.hpp"

namespace tessera {
namespace detail {

/// True if every extent of `value` is that of `target` or 1, from the last on.
template <std::size_t A, std::size_t N>
[[nodiscard]] bool broadcasts_to(std::array<std::int64_t, A> const& value,
                                 std::array<std::int64_t, N> const& target) {
  bool fits = A <= N;
  for (std::size_t d = 0; fits && d < A; ++d) fits = value[d] == 1 || value[d] == target[d + N - A];
  return fits;
}

/// Throws: ShapeError unless the value's shape broadcasts to the target's.
template <std::size_t A, std::size_t N>
void check_fits(std::array<std::int64_t, A> const& value,
                std::array<std::int64_t, N> const& target) {
  if (!broadcasts_to(value, target))
    throw ShapeError(text("an expression of shape ", Shape(value.begin(), value.end()),
                          " cannot be assigned to ", Shape(target.begin(), target.end()),
                          "; extents must be equal or 1, from the last on"));
}

/// What is written: a number becomes one of the target's elements.
/// Throws: UsageError for an integer that an integer T cannot hold.
template <class T, class V>
[[nodiscard]] decltype(auto) value_node(V const& value) {
  if constexpr (Expression<V>) {
    return as_node(value);
  } else if constexpr (Number<V>) {
    check_literal<T>(value);
    return LiteralNode<T>(convert<T>(value));
  } else {
    return LiteralNode<T>(static_cast<T>(value));
  }
}

/// The same, converted to T beforehand, so that what stands beside it keeps its bits.
template <class T, class V>
[[nodiscard]] auto converted_node(V const& value) {
  using Node = std::remove_cvref_t<decltype(value_node<T>(value))>;
  using S = typename Node::value_type;
  if constexpr (std::same_as<S, T>)
    return value_node<T>(value);
  else
    return UnaryNode<CastTo<T>, S, Node>(value_node<T>(value));
}

/// True of a view of elements of type T: assigning it moves bytes.
template <class T, class Node>
inline constexpr bool is_view_of = false;
template <class T, std::size_t N, std::size_t R>
inline constexpr bool is_view_of<T, View<T, N, R>> = true;

/// `rank` is that of the index space.
template <class Kernel, class T, std::size_t rank>
[[nodiscard]] KernelForms assignment_forms() {
  return {&assign_rows<Kernel, T, true>, &assign_rows<Kernel, T, false>,
          past_caches_form<Kernel, T>(), gpu_slot_of_assignment<Kernel, T, rank>()};
}

}  // namespace detail

/// Writes the cells of a view: what `view = value` calls.
///
/// Ranks:   collective.
/// Throws:  ShapeError and UsageError, alike on every process, before anything is sent.
/// Cost:    one message to each device that lacks cells this one owns.
template <class T, std::size_t N, std::size_t R, class V>
void assign_to_view(View<T, N, R> const& target, V const& value, Place const& place) {
  check_writable(*target.held());
  auto const& node = detail::value_node<T>(value);
  using Node = std::remove_cvref_t<decltype(node)>;
  static_assert(Node::rank <= N, "the expression has more dimensions than what it is assigned to");
  detail::check_fits(node.extents(), target.extents());
  detail::IndexSpace<N> const space(target.extents());
  auto& statement = engine().new_statement();
  detail::Builder builder(statement, space.box().hi, N);
  auto const kernel = make_kernel(node, builder);  // found beside the builder
  using Kernel = std::remove_cv_t<decltype(kernel)>;
  statement.kind = "assignment";
  statement.place = place.known() ? place : node.place();
  statement.type_hash = detail::type_hash<Kernel, T>();
  statement.work = {target.held()->layout(), target.map(space.rank), space.box()};
  statement.target = target.held();
  statement.copies = detail::is_view_of<T, Node>;
  statement.forms = detail::assignment_forms<Kernel, T, space.rank>();
  detail::set_kernel(statement, kernel);
  engine().run(statement);
}

/// Writes the cells for which the mask is true: what `target(mask) = value` calls, for a view or a
/// member of one.
///
/// Throws:  ShapeError if mask or value do not broadcast to the target.
/// Cost:    that of where(mask, value, target).
template <class Target, class M, class V>
void assign_where(Target const& target, M const& mask, V const& value) {
  check_writable(*target.held());
  auto const condition = detail::as_node(mask);
  auto const wanted = detail::converted_node<typename Target::value_type>(value);
  static_assert(decltype(wanted)::rank <= Target::rank,
                "the expression has more dimensions than what it is assigned to");
  auto const extents = condition.extents();
  if (!detail::broadcasts_to(extents, target.extents()))
    throw ShapeError(text("a mask of shape ", Shape(extents.begin(), extents.end()),
                          " cannot select from an array of shape ", target.shape(),
                          "; extents must be equal or 1, from the last on"));
  detail::check_fits(wanted.extents(), target.extents());
  using Node = detail::WhereNode<detail::node_of<M>, std::remove_cv_t<decltype(wanted)>, Target>;
  target = Node(condition, wanted, target);
}

/// The cells for a new array of an expression's shape, where most of what it is made of lies.
template <Expression E>
[[nodiscard]] detail::StatePtr state_for_result(E const& expression, std::int64_t element_bytes) {
  auto const node = detail::as_node(expression);
  auto const extents = node.extents();
  detail::IndexSpace<std::remove_cvref_t<decltype(node)>::rank> const space(extents);
  Statement unused;
  detail::Builder const builder(unused, space.box().hi, extents.size());
  detail::Anchor anchor;
  find_anchor(node, builder, anchor);
  auto const shape = space.box().hi;  // of an array without dimensions: one cell
  return detail::make_state(detail::sharding_of_result(anchor, shape), shape, element_bytes);
}

}  // namespace tessera
