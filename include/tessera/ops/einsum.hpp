#pragma once
/// @file
/// Products over named dimensions: einsum, whose labels the compiler reads, and tensordot.

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <vector>

#include "tessera/array/axes.hpp"
#include "tessera/detail/ops/products/einsum_labels.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/ops/reductions.hpp"

namespace tessera {

/// Options of einsum and tensordot.
struct EinsumOptions {
  ResultSharding sharding = {};
  std::int64_t memory_bytes = product_memory_bytes;  ///< per device, for cells that it lacks
};

namespace detail {

/// The operands in the order of the call, and the name of the operation for messages.
struct EinsumOperands {
  std::vector<ProductView> views;
  char const* kind;
  SourceLocation location;
};
/// The extents of a result with these labels. Throws: ShapeError if one label has two extents.
[[nodiscard]] Shape shape_of_einsum(EinsumOperands const& operands, Labels const& result);
/// The sharding of the result if the program gives none: as of a product of the first two operands.
[[nodiscard]] NamedSharding sharding_of_einsum(EinsumOperands const& operands, Labels const& result,
                                               Shape const& shape);
/// Multiplies two operands at a time, the pair with the smallest result first, and writes the last
/// product to `target`. Returns false, and writes nothing to `target`, if a sum has no terms.
[[nodiscard]] bool evaluate_einsum(EinsumOperands operands, ProductView const& target,
                                   ProductType type, ProductOptions const& options);
/// The labels of tensordot's operands and of its result.
struct TensordotLabels {
  Labels a, b, result;
};
/// Throws: ShapeError for axes that do not exist or are named twice.
[[nodiscard]] TensordotLabels labels_of_tensordot(std::size_t a_rank, std::size_t b_rank,
                                                  std::span<std::int64_t const> a_axes,
                                                  std::span<std::int64_t const> b_axes);

/// The type of the products of these operands' cells.
template <class... E>
struct PromotedProduct;
template <class A>
struct PromotedProduct<A> {
  using type = typename A::value_type;
};
template <class A, class... B>
struct PromotedProduct<A, B...> {
  using type = promoted<typename A::value_type, typename PromotedProduct<B...>::type>;
};

/// An einsum whose text the compiler has read.
template <TemplateText text, class... E>
struct Einsum {
  static constexpr EinsumParts<6> parts{text.view()};
  static_assert(parts.is_valid,
                "einsum: labels are letters, as in \"ij,jk->ik\", at most 8 of one array");
  static_assert(parts.count == sizeof...(E), "einsum: as many lists of labels as operands");
  static_assert(!parts.has_repeated_label(),
                "einsum: a label occurs twice in one operand, or in the result");
  static_assert(parts.result_labels_exist(), "einsum: a label of the result occurs in no operand");
  static_assert(((has_products<typename E::value_type>)&&...),
                "only numbers have products; convert bool by cast<…>(…) first");
  using T = typename PromotedProduct<E...>::type;
  /// The type of intermediate products: of more than two operands, 16-bit types stay float.
  using Intermediate = std::conditional_t<(sizeof...(E) > 2 && is_half<T>), float, T>;
  static constexpr std::size_t rank = parts.result_rank;

  /// Operand i, summed over the labels that occur in it alone.
  template <std::size_t i, class Operand>
  [[nodiscard]] static ProductView operand(Operand const& e, SourceLocation const& at) {
    static_assert(parts.ranks[i] == Operand::rank,
                  "einsum: an operand has another number of dimensions than labels");
    constexpr auto alone = parts.count_alone(i);
    if constexpr (alone == 0) {
      return product_operand<Intermediate>(e, labels_of(parts.operand(i)));
    } else {
      std::array<std::int64_t, alone> axes{};
      Labels kept;
      std::size_t next = 0;
      for (std::size_t d = 0; d < Operand::rank; ++d) {
        auto const label = parts.operand(i)[d];
        if (parts.is_alone(label))
          axes[next++] = static_cast<std::int64_t>(d);
        else
          kept.push_back(label);
      }
      auto const summed = reduce_over<SumOf<typename Operand::value_type>>(
          as_node(e), Axes<alone, true>(axes), "einsum", at);
      return without_summed(product_operand<Intermediate>(summed, labels_of(parts.operand(i))),
                            kept);
    }
  }

 private:
  // Drops the dimensions, of one cell each, whose labels have been summed.
  [[nodiscard]] static ProductView without_summed(ProductView const& view, Labels const& kept) {
    ProductView result{view.array, view.axes, {}, kept};
    std::array<int, max_rank> place{};
    for (std::size_t d = 0; d < view.labels.size(); ++d) {
      bool const is_kept = !parts.is_alone(view.labels[d]);
      place[d] = is_kept ? static_cast<int>(result.extents.size()) : ViewAxis::fixed;
      if (is_kept) result.extents.push_back(view.extents[d]);
    }
    for (auto& axis : result.axes)
      if (axis.from != ViewAxis::fixed) axis.from = place[static_cast<std::size_t>(axis.from)];
    return result;
  }
};

/// Computes the result of einsum or tensordot in a new array.
template <class T, std::size_t rank>
[[nodiscard]] ResultArray<T, rank> evaluated(EinsumOperands const& operands, Labels const& labels,
                                             EinsumOptions const& options) {
  auto const shape = shape_of_einsum(operands, labels);
  ResultArray<T, rank> result(shape, options.sharding.value_or([&] {
    return sharding_of_einsum(operands, labels, shape);
  }));
  if (!evaluate_einsum(operands, product_view(result.view(operands.location), labels),
                       product_type_of<T>(), {.adds = false, .memory_bytes = options.memory_bytes}))
    result = T();
  return result;
}
template <TemplateText text, std::size_t... i, class... E>
[[nodiscard]] auto einsum(std::index_sequence<i...>, EinsumOptions const& options,
                          SourceLocation const& at, E const&... e) {
  using Parsed = Einsum<text, E...>;
  EinsumOperands operands{{Parsed::template operand<i>(e, at)...}, "einsum", at};
  auto result = evaluated<typename Parsed::Intermediate, Parsed::rank>(
      operands, labels_of(Parsed::parts.result_labels()), options);
  if constexpr (std::same_as<typename Parsed::Intermediate, typename Parsed::T>)
    return result;
  else
    return ResultArray<typename Parsed::T, Parsed::rank>(
        converted_node<typename Parsed::T>(result.node()), result.sharding());
}

}  // namespace detail

/// The sum of products over the labels that the result lacks, by NumPy's rules, without "...": each
/// dimension has a letter as its label, and extents of one label are equal. Labels that occur in
/// one operand alone are summed first, as `sum` does. If there are more than two operands, the pair
/// with the smallest result is multiplied first, and of equal pairs the leftmost; sums of 16-bit
/// types stay float between pairs.
///
/// A text that does not fit the operands, or has a label twice in one of them, does not compile.
/// Ranks:   collective.
/// Throws:  ShapeError if extents of one label differ; ShardingError if the result cannot have the
///          sharding that was asked for.
/// Cost:    as matmul. Terms of several labels count row-major in the order of the first operand.
/// Example: auto e = ts::einsum<"bqhd,bkhd->bhqk">(q, k);
template <detail::TemplateText text, Expression A>
[[nodiscard]] auto einsum(A const& a, EinsumOptions const& options = {},
                          std::source_location at = std::source_location::current()) {
  return detail::einsum<text>(std::make_index_sequence<1>(), options, at, a);
}
template <detail::TemplateText text, Expression A, Expression B>
[[nodiscard]] auto einsum(A const& a, B const& b, EinsumOptions const& options = {},
                          std::source_location at = std::source_location::current()) {
  return detail::einsum<text>(std::make_index_sequence<2>(), options, at, a, b);
}
template <detail::TemplateText text, Expression A, Expression B, Expression C>
[[nodiscard]] auto einsum(A const& a, B const& b, C const& c, EinsumOptions const& options = {},
                          std::source_location at = std::source_location::current()) {
  return detail::einsum<text>(std::make_index_sequence<3>(), options, at, a, b, c);
}
template <detail::TemplateText text, Expression A, Expression B, Expression C, Expression D>
[[nodiscard]] auto einsum(A const& a, B const& b, C const& c, D const& d,
                          EinsumOptions const& options = {},
                          std::source_location at = std::source_location::current()) {
  return detail::einsum<text>(std::make_index_sequence<4>(), options, at, a, b, c, d);
}

/// The sum of products over pairs of axes, as NumPy's tensordot. The result has the other
/// dimensions of a, then those of b.
///
/// Ranks:   collective.
/// Throws:  ShapeError for axes that do not exist, are named twice, or differ in extent.
/// Cost:    as matmul. Terms count row-major in the order of a's dimensions, not of the axes.
/// Example: auto t = ts::tensordot(a, b, ts::axis(2, 1), ts::axis(0, 1));
template <Expression A, Expression B, std::size_t K>
requires(K <= A::rank && K <= B::rank)
    [[nodiscard]] auto tensordot(A const& a, B const& b, Axes<K> const& a_axes,
                                 Axes<K> const& b_axes, EinsumOptions const& options = {},
                                 std::source_location at = std::source_location::current()) {
  using T = detail::product_element<A, B>;
  constexpr auto rank = A::rank + B::rank - 2 * K;
  static_assert(rank + K <= max_rank,
                "a product has at most 8 dimensions, the inner ones included");
  auto const labels =
      detail::labels_of_tensordot(A::rank, B::rank, a_axes.numbers(), b_axes.numbers());
  detail::EinsumOperands const operands{
      {detail::product_operand<T>(a, labels.a), detail::product_operand<T>(b, labels.b)},
      "tensordot",
      at};
  return detail::evaluated<T, rank>(operands, labels.result, options);
}

}  // namespace tessera
