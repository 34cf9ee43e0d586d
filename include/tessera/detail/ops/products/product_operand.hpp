#pragma once
/// @file
/// Makes views of the operands that users hand to products.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include "tessera/array/dist_array.hpp"
#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/ops/products/product.hpp"

namespace tessera::detail {

/// The type of the cells of a product.
template <class A, class B>
struct ProductElement {
  using type = promoted<typename A::value_type, typename B::value_type>;
  static_assert(has_products<typename A::value_type> && has_products<typename B::value_type>,
                "only numbers have products; convert bool by cast<…>(…) first");
};
template <class A, class B>
using product_element = typename ProductElement<A, B>::type;

/// What a product can be written to: an array, or a slice, that is not const.
template <class C>
concept ProductTarget = Operand<C> && requires(C& c) {
  { c.view(SourceLocation{}).storage() } -> std::convertible_to<StatePtr>;
  requires !decltype(c.view(SourceLocation{}))::is_const;
};

/// The labels of matmul: m, k and n for the last dimensions, and letters from a to g for those
/// before them.
template <std::size_t a_rank, std::size_t b_rank>
struct MatmulLabels {
  /// The number of dimensions before the last two, of the longer operand.
  static constexpr std::size_t batch = std::max<std::size_t>({a_rank, b_rank, 2}) - 2;
  static constexpr std::size_t rank = batch + (a_rank > 1 ? 1U : 0U) + (b_rank > 1 ? 1U : 0U);
  static_assert(rank + 1 <= max_rank, "a product has at most 8 dimensions, the inner one included");

  [[nodiscard]] static Labels a() { return labels(a_rank, a_rank > 1 ? "mk" : "k"); }
  [[nodiscard]] static Labels b() { return labels(b_rank, b_rank > 1 ? "kn" : "k"); }
  [[nodiscard]] static Labels result() {
    return labels(rank, a_rank > 1 ? (b_rank > 1 ? "mn" : "m") : (b_rank > 1 ? "n" : ""));
  }

 private:
  // Dimensions broadcast from the right, so the shorter operand has the last of the letters.
  [[nodiscard]] static Labels labels(std::size_t rank, std::string_view last) {
    constexpr std::string_view before = "abcdefg";
    auto const own = rank - last.size();
    auto result = labels_of(before.substr(batch - own, own));
    for (auto const label : last) result.push_back(label);
    return result;
  }
};

/// An array or a slice with cells of type T: nothing has to be computed or converted.
template <class E, class T>
concept CellsOf = std::same_as<typename E::value_type, T> && IsArrayNode<node_of<E>>;

/// The view that a product reads. It shows a new array if the operand is an expression, has cells
/// of another type, or lies in the array `target`.
template <class T, Expression E>
[[nodiscard]] ProductView product_operand(E const& e, Labels const& labels,
                                          StatePtr const& target = nullptr) {
  if constexpr (CellsOf<E, T>) {
    auto const& node = as_node(e);
    if (target == nullptr || node.storage() != target) return product_view(node, labels);
    return product_view(DistArray<T, E::rank>(node).node(), labels);
  } else {
    return product_view(DistArray<T, E::rank>(converted_node<T>(e)).node(), labels);
  }
}

}  // namespace tessera::detail
