#pragma once
/// @file
/// From the nodes of an expression to a statement: each array access becomes a slot, each node a
/// kernel.

#include <array>
#include <cstdint>
#include <span>
#include <type_traits>

#include "tessera/array/scalar.hpp"
#include "tessera/detail/array/expr/nodes.hpp"
#include "tessera/detail/base/hash.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/detail/statement/statement.hpp"

namespace tessera::detail {

/// The index space of a statement: the extents of the target, or of the reduced expression. Without
/// dimensions it has one index, since a box without dimensions cannot be empty.
template <std::size_t N>
struct IndexSpace {
  static constexpr std::size_t rank = N == 0 ? 1 : N;
  std::array<std::int64_t, rank> extents;

  explicit IndexSpace(std::array<std::int64_t, N> const& given) {
    extents[0] = 1;
    for (std::size_t d = 0; d < N; ++d) extents[d] = given[d];
  }
  [[nodiscard]] Box box() const {
    Box result;
    write_to(result);
    return result;
  }
  /// The same into an empty box: a copy would wait until all of it has been stored.
  void write_to(Box& box) const {
    for (auto const extent : extents) {
      box.lo.push_back(0);
      box.hi.push_back(extent);
    }
  }
};

/// Says that an expression reads no array, by which a reduction of `kind` would be placed.
[[noreturn]] void refuse_without_array(char const* kind);

/// How a statement of given extents sees the arrays that an expression reads.
/// Throws: UsageError if they do not fit a statement; ShapeError for an index along a missing
///         dimension.
class AccessBuilder {
 public:
  /// `dimensions` of the expression, which line up from the last on.
  AccessBuilder(Index const& extents, std::size_t dimensions)
      : extents_(extents), dimensions_(dimensions) {}

  /// The statement's access to a view of `view_extents` through `axes`.
  [[nodiscard]] Access access(std::span<ViewAxis const> axes,
                              std::span<std::int64_t const> view_extents) const;
  /// Moves an access to its neighbours along view dimension `k`, and past the view's edges.
  void shift(Access& access, std::span<ViewAxis const> axes,
             std::span<std::int64_t const> view_extents, std::size_t k, Reach const& reach) const;
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] Index const& extents() const { return extents_; }

 private:
  Index extents_;
  std::size_t dimensions_;
};

/// Fills in a statement's operands and scalars while kernels are made.
class Builder : public AccessBuilder {
 public:
  Builder(Statement& statement, AccessBuilder const& accesses)
      : AccessBuilder(accesses), statement_(statement) {}

  [[nodiscard]] Statement& statement() { return statement_; }
  /// The slot of an array among the operands. Partials are added up first.
  [[nodiscard]] std::size_t operand(StatePtr const& storage, Access const& access,
                                    std::int64_t constants_offset);

 private:
  Statement& statement_;
};

template <class T>
[[nodiscard]] auto make_kernel(LiteralNode<T> const& node, Builder&) {
  return LiteralKernel<T>{node.value};
}
[[nodiscard]] inline auto make_kernel(IndexNode const& node, Builder& builder) {
  return IndexKernel{node.dimension_in(builder.dimensions())};
}
template <class T>
[[nodiscard]] auto make_kernel(Scalar<T> const& node, Builder& builder) {
  return ScalarKernel<T>{builder.statement().add_scalar(node.state())};
}
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] auto make_kernel(ArrayNode<T, N, R> const& view, Builder& builder) {
  auto const access = builder.access(view.axes(), view.extents());
  return OperandKernel<T>{builder.operand(view.storage(), access, -1)};
}
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] auto make_kernel(ShiftedNode<T, N, R> const& node, Builder& builder) {
  auto const& view = node.view;
  auto access = builder.access(view.axes(), node.shown);
  BoundaryOperandKernel<T, R> kernel{};
  bool constant = false;
  for (std::size_t k = 0; k < N; ++k) {
    auto const& reach = node.reach[k];
    if (reach.offset != 0 || node.shown[k] != view.extents()[k])
      builder.shift(access, view.axes(), view.extents(), k, reach);
    constant =
        constant || reach.below == BoundaryKind::constant || reach.above == BoundaryKind::constant;
  }
  for (std::size_t r = 0; r < R; ++r) {
    auto const from = view.axes()[r].from;
    if (from < 0) continue;
    auto const k = static_cast<std::size_t>(from);
    kernel.constants[2 * r] = node.constants[2 * k];
    kernel.constants[2 * r + 1] = node.constants[2 * k + 1];
  }
  kernel.operand = {builder.operand(view.storage(), access, constant ? 0 : -1)};
  return kernel;
}
template <class Op, class C, class A>
[[nodiscard]] auto make_kernel(UnaryNode<Op, C, A> const& node, Builder& builder) {
  auto const a = make_kernel(node.a, builder);
  return OperationKernel<Op, C, std::remove_cv_t<decltype(a)>>{a};
}
template <class Op, class C, class A, class B>
[[nodiscard]] auto make_kernel(BinaryNode<Op, C, A, B> const& node, Builder& builder) {
  auto const a = make_kernel(node.a, builder);
  auto const b = make_kernel(node.b, builder);
  return OperationKernel<Op, C, std::remove_cv_t<decltype(a)>, std::remove_cv_t<decltype(b)>>{a, b};
}
template <class Condition, class A, class B>
[[nodiscard]] auto make_kernel(WhereNode<Condition, A, B> const& node, Builder& builder) {
  auto const condition = make_kernel(node.condition, builder);
  auto const a = make_kernel(node.a, builder);
  auto const b = make_kernel(node.b, builder);
  return WhereKernel<typename WhereNode<Condition, A, B>::value_type,
                     std::remove_cv_t<decltype(condition)>, std::remove_cv_t<decltype(a)>,
                     std::remove_cv_t<decltype(b)>>{condition, a, b};
}

/// Records in the statement where the kernel holds the constants past the edges.
struct RecordConstants {
  std::byte const* start;
  Statement& statement;

  template <class Kernel>
  void operator()(Kernel const&) const {}
  template <class T, std::size_t R>
  void operator()(BoundaryOperandKernel<T, R> const& kernel) const {
    auto& operand = statement.operands[kernel.operand.slot];
    if (operand.constants_offset >= 0)
      operand.constants_offset = reinterpret_cast<std::byte const*>(kernel.constants) - start;
  }
};

/// Sets the bytes between the members of a value to zero, where the compiler has a way.
#if defined(__GNUC__) && !defined(__clang__)
inline constexpr bool clears_padding = true;
void clear_padding(auto& value) {
  __builtin_clear_padding(&value);
}
#else
inline constexpr bool clears_padding = false;
void clear_padding(auto&) {}
#endif

/// Passes a number to a visitor. Leaves out a struct whose padding this compiler cannot clear.
template <class T>
void visit_number(T value, NumberVisitor& visitor) {
  if constexpr (is_complex<T>) {
    visitor.real(value.real());
    visitor.real(value.imag());
  } else if constexpr (is_half<T>) {
    visitor.real(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    visitor.real(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    visitor.signed_integer(value);
  } else if constexpr (std::is_integral_v<T>) {
    visitor.unsigned_integer(value);
  } else if constexpr (clears_padding || std::has_unique_object_representations_v<T>) {
    clear_padding(value);
    visitor.structure(std::as_bytes(std::span(&value, 1)));
  }
}
/// Passes the numbers in a kernel, and the positions of its operands, to a visitor.
struct PassNumbers {
  NumberVisitor& visitor;

  template <class Kernel>
  void operator()(Kernel const& kernel) const {
    if constexpr (requires { kernel.pass_numbers(visitor); }) kernel.pass_numbers(visitor);
  }
  template <class T>
  void operator()(LiteralKernel<T> const& kernel) const {
    visit_number(kernel.value, visitor);
  }
  template <class T, std::size_t R>
  void operator()(BoundaryOperandKernel<T, R> const& kernel) const {
    visitor.position(kernel.operand.slot);
    for (auto const& constant : kernel.constants) visit_number(constant, visitor);
  }
  template <class T>
  void operator()(OperandKernel<T> const& kernel) const {
    visitor.position(kernel.slot);
  }
  template <class T>
  void operator()(ScalarKernel<T> const& kernel) const {
    visitor.position(kernel.slot);
  }
  void operator()(IndexKernel const& kernel) const { visitor.position(kernel.dimension); }
};
template <class Kernel>
void visit_numbers(void const* kernel, NumberVisitor& visitor) {
  visit_ends(*static_cast<Kernel const*>(kernel), PassNumbers{visitor});
}

/// Gives a statement its kernel, which lives until it has run.
template <class Kernel>
void set_kernel(Statement& statement, Kernel const& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>);
  visit_ends(kernel, RecordConstants{reinterpret_cast<std::byte const*>(&kernel), statement});
  statement.kernel = &kernel;
  statement.kernel_bytes = sizeof kernel;
  statement.visit_numbers = &visit_numbers<Kernel>;
}

/// A number for a type, equal on all processes that run the same program.
template <class... Types>
[[nodiscard]] constexpr std::uint64_t type_hash() {
  constexpr auto hash = hash_text(__PRETTY_FUNCTION__);  // or it would be computed in every step
  return hash;
}

/// The operand whose layout a result takes. Candidates are the operands that move along the largest
/// number of the result's dimensions. The anchor is the leftmost of them that is not whole on every
/// device, or else the leftmost.
struct Anchor {
  StatePtr state;
  Access access;         ///< of the statement, without shifts
  std::size_t rank = 0;  ///< the number of dimensions along which it moves
  bool is_cut = false;
  bool is_on_two_meshes = false;  ///< the expression reads arrays of different meshes

  void offer(StatePtr const& held, Access const& how);
};

/// Offers all operands of an expression to the anchor.
template <class Node>
void find_anchor(Node const& node, AccessBuilder const& accesses, Anchor& anchor) {
  if constexpr (IsArrayNode<Node>)
    anchor.offer(node.storage(), accesses.access(node.axes(), node.extents()));
  if constexpr (requires { node.reach; })  // a view that is read at an offset
    anchor.offer(node.view.storage(), accesses.access(node.view.axes(), node.shown));
  if constexpr (requires { node.condition; }) find_anchor(node.condition, accesses, anchor);
  if constexpr (requires { node.a; }) find_anchor(node.a, accesses, anchor);
  if constexpr (requires { node.b; }) find_anchor(node.b, accesses, anchor);
}

/// The sharding of a new array of `shape` whose cells come from the anchor.
/// Throws: UsageError if the expression reads no array, or arrays on different meshes.
[[nodiscard]] NamedSharding sharding_of_result(Anchor const& anchor, Shape const& shape);
/// Where a reduction over `indices` is computed: by the owners of the anchor's cells. A dimension
/// of the anchor whose edges they pass, as those of a padded view do, is cut anew at their extent.
[[nodiscard]] ComputePlacement placement_of(Anchor const& anchor, Box const& indices);
/// One index that every device of the job computes.
[[nodiscard]] ComputePlacement placement_on_all();

}  // namespace tessera::detail
