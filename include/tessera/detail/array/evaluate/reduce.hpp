#pragma once
/// @file
/// Reduces whole expressions to one value: the statement behind sum, min, all and similar
/// functions.

#include <cstdint>
#include <string_view>

#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/array/expr/row_blocks.hpp"
#include "tessera/detail/array/gpu/gpu.hpp"

namespace tessera::detail {

/// The state of a reduction: trivially copyable, with add_row(row, count), merge(other) and
/// value(parameter). The parameter is a number for finishing, such as the divisor of a mean. A
/// member `depends_on_order` says that its bits depend on the order of its terms.
template <class A>
concept Accumulator = std::is_trivially_copyable_v<A> && requires(A a, A const& b) {
  a.merge(b);
  b.value(0.0);
};

/// Accumulators that take a term at a time as fast as a row of them: they say
/// `static constexpr bool adds_singly = true`.
template <class A>
concept AddsSingly = requires {
  requires A::adds_singly;
};

/// Accepts one term, which is the value: each device can compute it where it is made of scalars.
template <class T>
struct OneTerm {
  static constexpr bool is_value = true;
  T term{};
  bool is_known = false;

  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t) {
    add_term(row(0));
  }
  TESSERA_FUNCTION void add_term(T const& one) {
    term = one;
    is_known = true;
  }
  TESSERA_FUNCTION void merge(OneTerm const& other) {
    if (other.is_known) *this = other;
  }
  [[nodiscard]] TESSERA_FUNCTION T value(double) const { return term; }
};

/// Adds all cells of a row.
template <Accumulator A, class Row>
void add_row_to(A& accumulator, Row const& row, std::int64_t count) {
  if constexpr (has_functions<Row>)
    visit_blocks(row, 0, count, [&](auto const& block, std::int64_t, std::int64_t n) {
      accumulator.add_row(block, n);
    });
  else
    accumulator.add_row(row, count);
}

template <class Kernel, Accumulator A, bool unit>
void reduce_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto& accumulator = *static_cast<A*>(call.accumulator);
  auto row = static_cast<Kernel const*>(call.kernel)->template row<unit>(call);
  auto const count = call.extents->back();
  if constexpr (has_functions<decltype(row)>) {
    Blocks<decltype(row)> blocks(row, count);
    auto const add = [&] {
      blocks.visit(row, 0, count, [&](auto const& block, std::int64_t, std::int64_t n) {
        accumulator.add_row(block, n);
      });
    };
    visit_rows(*call.extents, first, last, add, row);
  } else {
    auto const add = [&] { accumulator.add_row(row, count); };
    visit_rows(*call.extents, first, last, add, row);
  }
}

template <Accumulator A>
[[nodiscard]] Reduction reduction_of(double parameter) {
  using T = decltype(std::declval<A const&>().value(0.0));
  Reduction result;
  static_assert(sizeof(A) <= most_accumulator_bytes, "it travels in one message");
  result.accumulator_bytes = sizeof(A);
  result.value_bytes = sizeof(T);
  result.start = [](void* accumulator) { new (accumulator) A(); };
  result.combine = [](void* into, void const* from) {
    static_cast<A*>(into)->merge(*static_cast<A const*>(from));
  };
  result.finish = [](void const* accumulator, double divisor, void* value) {
    *static_cast<T*>(value) = static_cast<A const*>(accumulator)->value(divisor);
  };
  result.parameter = parameter;
  result.depends_on_order = requires {
    A::depends_on_order;
  };
  return result;
}

/// Runs a reduction of `node` with accumulator A.
/// Ranks: collective over the job; does not wait.
template <Accumulator A, class Node>
[[nodiscard]] auto reduce(Node const& node, char const* kind, SourceLocation const& location,
                          double parameter = 0) {
  using T = decltype(std::declval<A const&>().value(0.0));
  check_has_shape<Node>();
  IndexSpace<Node::rank> const space(node.extents());
  AccessBuilder const accesses(space.box().hi, Node::rank);
  Anchor anchor;
  find_anchor(node, accesses, anchor);
  bool const reads_array = anchor.state != nullptr;
  constexpr bool is_value = requires {
    A::is_value;
  };
  if (!reads_array && !is_value) refuse_without_array(kind);
  Statement statement;
  Builder builder(statement, accesses);
  auto const kernel = make_kernel(node, builder);
  using Kernel = std::remove_cv_t<decltype(kernel)>;
  statement.kind = kind;
  statement.location = location;
  statement.type_hash = mix(type_hash<Kernel, A>(), bits_of(parameter));
  statement.work = reads_array ? placement_of(anchor, space.box()) : placement_on_all();
  statement.forms = {&reduce_rows<Kernel, A, true>, &reduce_rows<Kernel, A, false>, nullptr,
                     gpu_slot_of_reduction<Kernel, A, space.rank>()};
  set_kernel(statement, kernel);
  statement.reduction = reduction_of<A>(parameter);
  statement.reduction.on_each = !reads_array;
  statement.result = new_scalar();
  Scalar<T> const result(statement.result);
  submit(statement);
  return result;
}

}  // namespace tessera::detail

namespace tessera {

template <Element T>
template <Expression E>
requires(E::rank == 0) Scalar<T>::Scalar(E const& expression)
    : Scalar(detail::reduce<detail::OneTerm<T>>(detail::converted_node<T>(expression), "scalar",
                                                expression.location())) {}

}  // namespace tessera
