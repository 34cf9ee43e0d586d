#pragma once
/// @file
/// Expressions read at other places: a slice, a transpose or a shift of an expression is the
/// expression of its moved operands. Nothing is computed, and no temporary is made.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "tessera/array/slice.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/array/expr/nodes.hpp"
#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/base/inline_vector.hpp"

namespace tessera::detail {

/// The same expression with each of its ends moved: move(end) for those that have dimensions.
template <class Node, class Move>
[[nodiscard]] auto moved(Node const& node, Move const& move) {
  if constexpr (requires { typename Node::Base; })  // a view, or a member of one
    return moved(static_cast<typename Node::Base const&>(node), move);
  else if constexpr (Node::rank == 0 && !std::same_as<Node, IndexNode> && !TakesShape<Node>)
    return node;
  else
    return move(node);
}
template <class Op, class C, class A, class Move>
[[nodiscard]] auto moved(UnaryNode<Op, C, A> const& node, Move const& move) {
  auto a = moved(node.a, move);
  return UnaryNode<Op, C, decltype(a)>(a);
}
template <class Op, class C, class A, class B, class Move>
[[nodiscard]] auto moved(BinaryNode<Op, C, A, B> const& node, Move const& move) {
  auto a = moved(node.a, move);
  auto b = moved(node.b, move);
  return BinaryNode<Op, C, decltype(a), decltype(b)>(std::move(a), std::move(b));
}
template <class Condition, class A, class B, class Move>
[[nodiscard]] auto moved(WhereNode<Condition, A, B> const& node, Move const& move) {
  auto condition = moved(node.condition, move);
  auto a = moved(node.a, move);
  auto b = moved(node.b, move);
  return WhereNode<decltype(condition), decltype(a), decltype(b)>(condition, a, b);
}

/// A number of the program, and an operation on coordinates.
[[nodiscard]] inline LiteralNode<std::int64_t> whole_number(std::int64_t n) {
  return LiteralNode<std::int64_t>(n);
}
template <class Op, class A, class B>
[[nodiscard]] auto computed(A const& a, B const& b) {
  return BinaryNode<Op, std::int64_t, A, B>(a, b);
}

/// What a rearrangement shows of one dimension of an expression.
struct ShownDimension {
  std::int64_t extent = 0;   ///< of the expression
  ResolvedRange range = {};  ///< its positions that are shown
  int to = ViewAxis::fixed;  ///< the dimension of the result that moves along them
};

/// The dimensions of an expression in those of another one, whose other dimensions have one cell.
struct Rearrangement {
  InlineVector<ShownDimension, max_rank> dimensions;
  SourceLocation at;
};
/// All cells in the same order.
[[nodiscard]] Rearrangement all_of(std::span<std::int64_t const> extents, SourceLocation const& at);

/// Applies a rearrangement to the axes of an operand with these extents; returns the extents of the
/// result, which are 1 beforehand, in `shown`.
void rearrange(Rearrangement const& how, std::span<std::int64_t const> extents,
               std::span<ViewAxis> axes, std::span<std::int64_t> shown);

/// One dimension of a shifted view, rearranged.
struct ReachedDimension {
  ShownDimension of_view;
  std::int64_t shown = 1;
  Reach reach;
  bool is_turned = false;  ///< the two ends have changed places
};
/// `extent` is that of the view, `shown` that of the node.
/// Throws: UsageError where cells past the edge are no longer those of a shifted view.
[[nodiscard]] ReachedDimension rearranged(ShownDimension const& wanted, std::int64_t extent,
                                          std::int64_t shown, Reach const& reach,
                                          SourceLocation const& at);

/// Moves what an expression of any rank reads to the dimensions of one of rank K. `is_slice` if
/// ranges may be shorter than the dimensions.
template <std::size_t K, bool is_slice>
struct Rearrange {
  Rearrangement how;

  template <class T, std::size_t N, std::size_t R>
  [[nodiscard]] ArrayNode<T, K, R> operator()(ArrayNode<T, N, R> const& node) const {
    auto axes = node.axes();
    std::array<std::int64_t, K> extents;
    rearrange(how, node.extents(), axes, extents);
    return {node.storage(), axes, extents, first_known(node.location(), how.at)};
  }

  template <class T, std::size_t N, std::size_t R>
  [[nodiscard]] auto operator()(ShiftedNode<T, N, R> const& node) const {
    std::array<ReachedDimension, N> parts;
    Rearrangement of_view{{}, how.at};
    for (std::size_t d = 0; d < N; ++d) {
      auto const& wanted = how.dimensions[how.dimensions.size() - N + d];
      parts[d] = rearranged(wanted, node.view.extents()[d], node.shown[d], node.reach[d], how.at);
      of_view.dimensions.push_back(parts[d].of_view);
    }
    auto view = Rearrange<K, true>{of_view}(node.view);
    if constexpr (K == 0) {
      return view;
    } else {
      ShiftedNode<T, K, R> result(std::move(view));
      result.at = first_known(node.at, how.at);
      for (std::size_t d = 0; d < N; ++d) {
        if (parts[d].of_view.to == ViewAxis::fixed) continue;
        auto const k = static_cast<std::size_t>(parts[d].of_view.to);
        result.shown[k] = parts[d].shown;
        result.reach[k] = parts[d].reach;
        for (std::size_t end = 0; end < 2; ++end)
          result.constants[2 * k + end] =
              node.constants[2 * d + (parts[d].is_turned ? 1 - end : end)];
      }
      return result;
    }
  }

  [[nodiscard]] auto operator()(IndexNode const& node) const {
    auto const& wanted = how.dimensions[node.dimension_in(how.dimensions.size())];
    bool const moves = wanted.to != ViewAxis::fixed;
    IndexNode const index(moves ? static_cast<std::size_t>(wanted.to) : 0, K);
    if constexpr (K == 0)
      return whole_number(wanted.range.first);
    else if constexpr (is_slice)
      return computed<Add>(whole_number(wanted.range.first),
                           computed<Multiply>(whole_number(moves ? wanted.range.step : 0), index));
    else
      return index;
  }

  template <TakesShape Node>
  [[nodiscard]] Node operator()(Node const& node) const {
    return node.rearranged(how, K);
  }
};

/// What selectors show of an expression.
/// Throws: IndexError for an integer outside.
template <Selector... S>
[[nodiscard]] Rearrangement selection(std::span<std::int64_t const> extents,
                                      SourceLocation const& at, S const&... selectors) {
  Rearrangement result{{}, at};
  int to = 0;
  auto const add = [&]<class A>(A const& selector) {
    if constexpr (std::same_as<A, NewAxis>) {
      ++to;
    } else {
      auto const d = result.dimensions.size();
      auto const selected = select(selector, extents[d], d);
      result.dimensions.push_back(
          {extents[d], selected.range, selected.kept ? to++ : ViewAxis::fixed});
    }
  };
  (add(selectors), ...);
  return result;
}

/// What selectors show of an expression: the expression of its operands, each of them sliced.
template <class Node, Selector... S>
[[nodiscard]] auto sliced_node(Node const& node, SourceLocation const& at, S const&... selectors) {
  static_assert(Node::rank > 0, "an expression without dimensions has no slices");
  static_assert(
      !(StepNumber<S> || ...),
      "slice the arrays of an expression by the number of the step, u(t, all) * v(t, all)");
  return moved(node,
               Rearrange<kept_dimensions<S...>, true>{selection(node.extents(), at, selectors...)});
}

/// How an expression of `extent` cells is shifted along one dimension, of which `shown` are shown.
struct ShiftedDimension {
  std::int64_t extent = 0;
  std::int64_t shown = 0;
  Reach reach;
  [[nodiscard]] bool moves() const { return reach.offset != 0 || shown != extent; }
};
/// The same of a shifted view, whose own reach is `inner`.
/// Throws: UsageError if that is no shift of the view.
[[nodiscard]] Reach shifted(Reach const& inner, bool is_padded, ShiftedDimension const& outer,
                            SourceLocation const& at);

/// The first and the last index that is not past a constant edge.
struct FirstAndLast {
  std::int64_t first;
  std::int64_t last;
};
[[nodiscard]] FirstAndLast inside_of(ShiftedDimension const& dimension);

/// A coordinate at the neighbour: x = min(max(i + offset, low), high) modulo period, then
/// min(x, turn - x).
struct ShiftedIndex {
  std::int64_t low;
  std::int64_t high;
  std::int64_t period;
  std::int64_t turn;
};
/// Throws: UsageError if the two ends are mirrors of different kinds.
[[nodiscard]] ShiftedIndex shifted_index(ShiftedDimension const& dimension,
                                         SourceLocation const& at);

/// Moves what an expression of N dimensions reads to its neighbours. Past constant edges the reads
/// give anything.
struct Shift {
  InlineVector<ShiftedDimension, max_rank> dimensions;
  SourceLocation at;

  template <class T, std::size_t N, std::size_t R>
  [[nodiscard]] ShiftedNode<T, N, R> operator()(ArrayNode<T, N, R> const& node) const {
    return (*this)(ShiftedNode<T, N, R>(node));
  }
  template <class T, std::size_t N, std::size_t R>
  [[nodiscard]] ShiftedNode<T, N, R> operator()(ShiftedNode<T, N, R> node) const {
    node.at = first_known(node.at, at);
    for (std::size_t d = 0; d < N; ++d) {
      auto const& by = dimensions[dimensions.size() - N + d];
      bool const is_repeated = node.shown[d] == 1 && by.extent != 1;
      if (is_repeated || !by.moves()) continue;
      node.reach[d] = shifted(node.reach[d], node.shown[d] != node.view.extents()[d], by, at);
      node.shown[d] = by.shown;
    }
    return node;
  }
  [[nodiscard]] auto operator()(IndexNode const& node) const {
    auto const rank = dimensions.size();
    auto const d = node.dimension_in(rank);
    auto const by = shifted_index(dimensions[d], at);
    auto const there = computed<Add>(whole_number(dimensions[d].reach.offset), IndexNode(d, rank));
    auto const inside =
        computed<Minimum>(computed<Maximum>(there, whole_number(by.low)), whole_number(by.high));
    auto const folded = computed<Modulo>(inside, whole_number(by.period));
    return computed<Minimum>(folded, computed<Subtract>(whole_number(by.turn), folded));
  }

  template <TakesShape Node>
  [[nodiscard]] Node operator()(Node const& node) const {
    static_assert(!TakesShape<Node>,
                  "random numbers without an array cannot be shifted: assign the expression to an "
                  "array first, and shift that");
    return node;
  }
};

/// What a program says of a shift: array/shift.hpp.
struct ShiftArguments;
/// Throws: ShapeError and UsageError for arguments that no array could be shifted by.
[[nodiscard]] Shift shift_of(ShiftArguments const& arguments);
/// Throws: UsageError if a boundary of an expression is constant and its type does not say so.
void check_no_constant(Shift const& shift);

}  // namespace tessera::detail
