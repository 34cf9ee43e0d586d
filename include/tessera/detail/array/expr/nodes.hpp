#pragma once
/// @file
/// The nodes of an expression. Building one reads nothing; it keeps its arrays alive.

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "tessera/array/scalar.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/array/expr/array_node.hpp"
#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/row.hpp"
#include "tessera/detail/array/expr/sliceable.hpp"
#include "tessera/detail/plan/access.hpp"

namespace tessera::detail {

/// A C++ number, already converted to the type that its neighbour determines.
template <class T>
struct LiteralNode : ExpressionBase {
  using value_type = T;
  static constexpr std::size_t rank = 0;
  T value;
  explicit LiteralNode(T v) : value(v) {}
  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
};

/// Says that an expression has no dimension `d`.
[[noreturn]] void refuse_index(std::size_t d, std::size_t rank);

/// The coordinate along a dimension of the statement, or of the last `frame` of its dimensions.
struct IndexNode : ExpressionBase {
  using value_type = std::int64_t;
  static constexpr std::size_t rank = 0;
  std::size_t dimension;
  std::size_t frame;  ///< 0: all of them
  explicit IndexNode(std::size_t d, std::size_t of = 0) : dimension(d), frame(of) {}
  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
  /// The dimension of a statement or an expression of so many. Throws: ShapeError without such one.
  [[nodiscard]] std::size_t dimension_in(std::size_t dimensions) const {
    auto const d = frame == 0 ? dimension : dimensions - frame + dimension;
    if (d >= dimensions) refuse_index(d, dimensions);
    return d;
  }
};

/// How a view is read along one of its dimensions: at an offset, with boundaries past the edges.
struct Reach {
  std::int64_t offset = 0;
  BoundaryKind below = BoundaryKind::absent;
  BoundaryKind above = BoundaryKind::absent;
  std::size_t number = 0;  ///< in a corner past constant edges the greatest decides
};

/// A view that is read at an offset, with boundaries past its edges: cell i is the view's cell i +
/// offsets.
template <class T, std::size_t N, std::size_t R>
struct ShiftedNode : ExpressionBase, SliceableNode<ShiftedNode<T, N, R>, N> {
  using value_type = T;
  static constexpr std::size_t rank = N;
  ArrayNode<T, N, R> view;
  std::array<std::int64_t, N> shown;  ///< how many cells along each dimension
  std::array<Reach, N> reach;
  std::array<T, 2 * N> constants{};
  SourceLocation at;

  explicit ShiftedNode(ArrayNode<T, N, R> v) : view(std::move(v)), shown(view.extents()) {}
  [[nodiscard]] std::array<std::int64_t, N> const& extents() const { return shown; }
  [[nodiscard]] SourceLocation const& location() const { return at; }
};

/// Says that two operands do not broadcast. Errors are made out of line: a user's object would
/// compile the words once for each rank.
[[noreturn]] void refuse_broadcast(Shape const& a, Shape const& b);

/// The extents of two operands together: NumPy's broadcasting.
/// Throws: ShapeError, with both shapes.
template <std::size_t A, std::size_t B>
[[nodiscard]] std::array<std::int64_t, (A > B ? A : B)> broadcast(
    std::array<std::int64_t, A> const& a, std::array<std::int64_t, B> const& b) {
  constexpr auto rank = A > B ? A : B;
  std::array<std::int64_t, rank> result;
  for (std::size_t d = 0; d < rank; ++d) {
    auto const of_a = d + A < rank ? 1 : a[d + A - rank];
    auto const of_b = d + B < rank ? 1 : b[d + B - rank];
    if (of_a != of_b && of_a != 1 && of_b != 1) refuse_broadcast(Shape(a), Shape(b));
    result[d] = of_a == 1 ? of_b : of_a;
  }
  return result;
}

/// The place of the first operand that knows one.
[[nodiscard]] inline SourceLocation first_known(SourceLocation const& a, SourceLocation const& b) {
  return a.known() ? a : b;
}

/// An operation on one operand, computed in type C.
template <class Op, class C, class A>
struct UnaryNode : ExpressionBase, SliceableNode<UnaryNode<Op, C, A>, A::rank> {
  using value_type = decltype(Op::apply(std::declval<C>()));
  static constexpr std::size_t rank = A::rank;
  A a;
  explicit UnaryNode(A const& operand) : a(operand) {}
  /// Of make(from), made in place.
  template <class Make, class From>
  UnaryNode(Make const& make, From const& from) : a(make(from)) {}
  // Not inline: a node of n operands is copied at n places, and each of them would compile the full
  // copy.
  [[gnu::noinline]] UnaryNode(UnaryNode const&) = default;
  [[gnu::noinline]] UnaryNode(UnaryNode&&) noexcept = default;
  [[gnu::noinline]] ~UnaryNode() = default;
  operator value_type() const  // NOLINT: an expression of scalars is its value
      requires(rank == 0) {
    return evaluate(*this);
  }
  [[nodiscard]] auto extents() const { return a.extents(); }
  [[nodiscard]] SourceLocation location() const { return a.location(); }
};

/// An operation on two operands, computed in type C.
template <class Op, class C, class A, class B>
struct BinaryNode
    : ExpressionBase,
      SliceableNode<BinaryNode<Op, C, A, B>, (A::rank > B::rank ? A::rank : B::rank)> {
  using value_type = decltype(Op::apply(std::declval<C>(), std::declval<C>()));
  static constexpr std::size_t rank = A::rank > B::rank ? A::rank : B::rank;
  A a;
  B b;
  /// Built from the operands of A and B; temporaries are moved in.
  template <class First, class Second>
  BinaryNode(First&& first, Second&& second)
      : a(std::forward<First>(first)), b(std::forward<Second>(second)) {
    (void)extents();  // reports shapes that do not fit here, not later
  }
  /// Of make_a(from_a) and make_b(from_b), made in place.
  template <class MakeA, class FromA, class MakeB, class FromB>
  BinaryNode(MakeA const& make_a, FromA const& from_a, MakeB const& make_b, FromB const& from_b)
      : a(make_a(from_a)), b(make_b(from_b)) {}
  [[gnu::noinline]] BinaryNode(BinaryNode const&) = default;
  [[gnu::noinline]] BinaryNode(BinaryNode&&) noexcept = default;
  [[gnu::noinline]] ~BinaryNode() = default;
  operator value_type() const  // NOLINT: an expression of scalars is its value
      requires(rank == 0) {
    return evaluate(*this);
  }
  [[nodiscard]] std::array<std::int64_t, rank> extents() const {
    return broadcast(a.extents(), b.extents());
  }
  [[nodiscard]] SourceLocation location() const { return first_known(a.location(), b.location()); }
};

/// condition ? a : b, cell by cell.
template <class Condition, class A, class B>
struct WhereNode
    : ExpressionBase,
      SliceableNode<WhereNode<Condition, A, B>, std::max({Condition::rank, A::rank, B::rank})> {
  using value_type = promoted<typename A::value_type, typename B::value_type>;
  static constexpr std::size_t rank = std::max({Condition::rank, A::rank, B::rank});
  Condition condition;
  A a;
  B b;
  WhereNode(Condition const& c, A const& first, B const& second)
      : condition(c), a(first), b(second) {
    (void)extents();
  }
  /// Of what make(...) gives for the operands of another one, made in place.
  template <class Make, class C, class F, class S>
  WhereNode(Make const& make, WhereNode<C, F, S> const& from)
      : condition(make(from.condition)), a(make(from.a)), b(make(from.b)) {}
  [[gnu::noinline]] WhereNode(WhereNode const&) = default;
  [[gnu::noinline]] WhereNode(WhereNode&&) noexcept = default;
  [[gnu::noinline]] ~WhereNode() = default;
  operator value_type() const  // NOLINT: an expression of scalars is its value
      requires(rank == 0) {
    return evaluate(*this);
  }
  [[nodiscard]] std::array<std::int64_t, rank> extents() const {
    return broadcast(condition.extents(), broadcast(a.extents(), b.extents()));
  }
  [[nodiscard]] SourceLocation location() const {
    return first_known(condition.location(), first_known(a.location(), b.location()));
  }
};

/// Whether an integer type holds a value.
template <class T, class S>
[[nodiscard]] constexpr bool in_range(S value) {
  if constexpr (std::is_signed_v<S> && std::is_unsigned_v<T>)
    return value >= 0 &&
           static_cast<std::make_unsigned_t<S>>(value) <= std::numeric_limits<T>::max();
  else if constexpr (std::is_unsigned_v<S> && std::is_signed_v<T>)
    return value <= static_cast<std::make_unsigned_t<T>>(std::numeric_limits<T>::max());
  else
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

/// What an expression keeps of an operand: the node that it offers, as arrays do, or the operand.
template <Expression E>
[[nodiscard]] decltype(auto) as_node(E const& expression) {
  if constexpr (requires { expression.node(); })
    return expression.node();
  else
    return (expression);
}
/// The extents of an expression.
template <class E>
[[nodiscard]] Shape shape_of(E const& expression) {
  return Shape(as_node(expression).extents());
}
template <class E>
using node_of =
    std::remove_cvref_t<decltype(as_node(std::declval<std::remove_cvref_t<E> const&>()))>;

/// The operand of an operator: an expression, by reference.
template <class E>
concept Operand = Expression<std::remove_cvref_t<E>>;
/// True of nodes without dimensions whose cells differ all the same: as IndexNode, they take a
/// shape from the statement around them, but no place, and no other statement may do without a
/// shape.
template <class Node>
concept TakesShape = requires {
  requires Node::takes_shape;
};
/// Whether an expression has a part that takes its shape from the statement.
template <class Node>
[[nodiscard]] constexpr bool takes_shape() {
  bool takes = TakesShape<Node>;
  if constexpr (requires(Node n) { n.condition; })
    takes |= takes_shape<decltype(Node::condition)>();
  if constexpr (requires(Node n) { n.a; }) takes |= takes_shape<decltype(Node::a)>();
  if constexpr (requires(Node n) { n.b; }) takes |= takes_shape<decltype(Node::b)>();
  return takes;
}
/// Refuses a node whose own shape is asked for, although only a statement gives it one.
template <class Node>
constexpr void check_has_shape() {
  static_assert(Node::rank > 0 || !takes_shape<Node>(),
                "random numbers without an array have the shape of the statement around them, and "
                "here is none: put an array beside them, as in sum(u * random::uniform(key)), or "
                "make one of them, random::uniform(key, shape, sharding)");
}

/// Whether an expression depends on coordinates.
template <class Node>
[[nodiscard]] constexpr bool has_index() {
  bool has = std::same_as<Node, IndexNode> || TakesShape<Node>;
  if constexpr (requires(Node n) { n.condition; }) has |= has_index<decltype(Node::condition)>();
  if constexpr (requires(Node n) { n.a; }) has |= has_index<decltype(Node::a)>();
  if constexpr (requires(Node n) { n.b; }) has |= has_index<decltype(Node::b)>();
  return has;
}
/// One that is more than a single value.
template <class E>
concept OperandWithCells = Operand<E> &&
    (std::remove_cvref_t<E>::rank > 0 || has_index<node_of<E>>());

/// The form in which a new node takes an operand: as_node(e), or the expression itself if it is a
/// temporary.
template <Operand E>
[[nodiscard]] decltype(auto) into_node(E&& e) {
  constexpr bool is_unnamed = std::same_as<E, node_of<E>>;
  if constexpr (is_unnamed)
    return std::forward<E>(e);
  else
    return as_node(e);
}

/// Throws: UsageError if `value` is an integer that an integer T cannot hold: it would wrap around
/// silently.
template <class T, class S>
void check_literal(S const& value) {
  if constexpr (std::is_integral_v<S> && std::is_integral_v<T> && !std::same_as<S, bool> &&
                !std::same_as<T, bool>)
    if (!in_range<T>(value))
      throw UsageError(text("the number ", value, " does not fit the array's type ",
                            dtype_name<T>(), "; cast the array to a wider type first"));
}

/// A number beside an operand of type T.
/// Throws: UsageError if it does not fit.
template <class T, class S>
[[nodiscard]] auto as_literal(S value) {
  using Result = weakly_promoted<T, S>;
  check_literal<Result>(value);
  return LiteralNode<Result>(convert<Result>(value));
}

/// The value of an expression without dimensions, as sqrt(sum(u * u)).
/// Ranks: collective where it reads an element of an array, else local.
template <class T>
[[nodiscard]] T evaluate(LiteralNode<T> const& node) {
  return node.value;
}
template <TakesShape Node>
[[nodiscard]] typename Node::value_type evaluate(Node const&) {
  check_has_shape<Node>();
  return {};
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
template <class Condition, class A, class B>
[[nodiscard]] auto evaluate(WhereNode<Condition, A, B> const& node) {
  using T = typename WhereNode<Condition, A, B>::value_type;
  return selected(evaluate(node.condition), convert<T>(evaluate(node.a)),
                  convert<T>(evaluate(node.b)));
}

}  // namespace tessera::detail
