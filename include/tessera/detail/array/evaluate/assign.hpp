#pragma once
/// @file
/// Assignment: the one place where an expression is evaluated.

#include <type_traits>

#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/array/expr/row_blocks.hpp"
#include "tessera/detail/array/expr/row_nontemporal.hpp"
#include "tessera/detail/array/gpu/gpu.hpp"

namespace tessera::detail {

/// True if every extent of `value` is that of `target` or 1, from the last on.
template <std::size_t A, std::size_t N>
[[nodiscard]] bool broadcasts_to(std::array<std::int64_t, A> const& value,
                                 std::array<std::int64_t, N> const& target) {
  bool fits = A <= N;
  for (std::size_t d = 0; fits && d < A; ++d) fits = value[d] == 1 || value[d] == target[d + N - A];
  return fits;
}

/// Says that a value does not broadcast to the target.
[[noreturn]] void refuse_assignment(Shape const& value, Shape const& target);

/// Throws: ShapeError unless the value's shape broadcasts to the target's.
template <std::size_t A, std::size_t N>
void check_fits(std::array<std::int64_t, A> const& value,
                std::array<std::int64_t, N> const& target) {
  if (!broadcasts_to(value, target)) refuse_assignment(Shape(value), Shape(target));
}

/// The node to be written: a number becomes an element of the target's type.
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

/// The same, converted to T beforehand, so that the other branch keeps its bits.
template <class T, class V>
[[nodiscard]] auto converted_node(V const& value) {
  using Node = std::remove_cvref_t<decltype(value_node<T>(value))>;
  using S = typename Node::value_type;
  if constexpr (std::same_as<S, T>)
    return value_node<T>(value);
  else
    return UnaryNode<CastTo<T>, S, Node>(value_node<T>(value));
}

/// True of an array's cells of type T: assigning them moves bytes.
template <class T, class Node>
concept MovesCells = IsArrayNode<Node> && std::same_as<typename Node::value_type, T>;

/// `rank` is that of the index space.
template <class Kernel, class T, std::size_t rank>
[[nodiscard]] KernelForms assignment_forms() {
  return {&assign_rows<Kernel, T, true>, &assign_rows<Kernel, T, false>,
          non_temporal_form<Kernel, T>(), gpu_slot_of_assignment<Kernel, T, rank>()};
}

/// Writes the cells of a view: what `view = value` calls.
///
/// Ranks:   collective.
/// Throws:  ShapeError and UsageError, alike on every process, before anything is sent.
/// Cost:    one message to each device that needs cells of this one.
template <class T, std::size_t N, std::size_t R, class V>
void assign_to_view(ArrayNode<T, N, R> const& target, V const& value,
                    SourceLocation const& location) {
  check_writable(target.storage());
  auto const& node = value_node<T>(value);
  using Node = std::remove_cvref_t<decltype(node)>;
  static_assert(Node::rank <= N, "the expression has more dimensions than what it is assigned to");
  check_fits(node.extents(), target.extents());
  IndexSpace<N> const space(target.extents());
  Statement statement;
  space.write_to(statement.work.indices);
  Builder builder(statement, {statement.work.indices.hi, N});
  auto const kernel = make_kernel(node, builder);  // found beside the builder
  using Kernel = std::remove_cv_t<decltype(kernel)>;
  statement.kind = "assignment";
  statement.location = location.known() ? location : node.location();
  statement.type_hash = type_hash<Kernel, T>();
  statement.work.layout = layout_of(target.storage());
  target.add_map_to(statement.work.map, space.rank);
  statement.target = named(target.storage());
  if constexpr (MovesCells<T, Node>) statement.copied_bytes = sizeof(T);
  statement.forms = assignment_forms<Kernel, T, space.rank>();
  set_kernel(statement, kernel);
  submit(statement);
}

/// Makes the cells of a new array with an expression's shape, placed where most of its operands
/// lie.
template <Expression E>
[[nodiscard]] StatePtr state_for_result(E const& expression, std::int64_t element_bytes) {
  auto const node = as_node(expression);
  check_has_shape<std::remove_const_t<decltype(node)>>();
  auto const extents = node.extents();
  IndexSpace<std::remove_cvref_t<decltype(node)>::rank> const space(extents);
  Anchor anchor;
  find_anchor(node, AccessBuilder(space.box().hi, extents.size()), anchor);
  auto const shape = space.box().hi;  // of an array without dimensions: one cell
  return make_state(sharding_of_result(anchor, shape), shape, element_bytes);
}

}  // namespace tessera::detail
