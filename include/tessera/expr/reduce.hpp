#pragma once
/// @file
/// Whole expressions to one value: the statement behind sum, min, all and their kin.

#include <cstdint>
#include <string_view>

#include "tessera/expr/build.hpp"
#include "tessera/expr/gpu.hpp"
#include "tessera/transport/network.hpp"

namespace tessera::detail {

/// What a reduction gathers: trivially copyable, with add_row(row, count), merge(other) and
/// value(parameter), where the parameter is what finishing needs beside the terms: what a mean
/// divides by.
template <class A>
concept Accumulator = std::is_trivially_copyable_v<A> && requires(A a, A const& b) {
  a.merge(b);
  b.value(0.0);
};

template <class Kernel, Accumulator A, bool unit>
void reduce_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto& accumulator = *static_cast<A*>(call.accumulator);
  auto row = static_cast<Kernel const*>(call.kernel)->template row<unit>(call);
  auto const add = [&] { accumulator.add_row(row, call.extents->back()); };
  visit_rows(*call.extents, first, last, add, row);
}

template <Accumulator A>
[[nodiscard]] Reduction reduction_of(double parameter) {
  using T = decltype(std::declval<A const&>().value(0.0));
  Reduction result;
  static_assert(std::int64_t{sizeof(A)} <= NetworkOptions::least_slot_bytes,
                "it travels in one message");
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
  return result;
}

/// Runs a reduction of `node` with accumulator A.
/// Ranks: collective over the job; nobody waits.
template <Accumulator A, class Node>
[[nodiscard]] auto reduce(Node const& node, char const* kind, Place const& place,
                          double parameter = 0) {
  using T = decltype(std::declval<A const&>().value(0.0));
  IndexSpace<Node::rank> const space(node.extents());
  auto& statement = engine().new_statement();
  Builder builder(statement, space.box().hi, Node::rank);
  Anchor anchor;
  find_anchor(node, builder, anchor);
  if (anchor.state == nullptr)
    throw UsageError(text(kind, " of an expression that reads no array; assign it to one first"));
  auto const kernel = make_kernel(node, builder);
  using Kernel = std::remove_cv_t<decltype(kernel)>;
  statement.kind = kind;
  statement.place = place;
  statement.type_hash = mix(type_hash<Kernel, A>(), bits_of(parameter));
  statement.work = {anchor.state->layout(), anchor.access.map, space.box()};
  statement.forms = {&reduce_rows<Kernel, A, true>, &reduce_rows<Kernel, A, false>, nullptr,
                     gpu_slot_of_reduction<Kernel, A, space.rank>()};
  set_kernel(statement, kernel);
  statement.reduction = reduction_of<A>(parameter);
  statement.result = engine().make_scalar();
  Scalar<T> const result(statement.result);
  engine().run(statement);
  return result;
}

}  // namespace tessera::detail
