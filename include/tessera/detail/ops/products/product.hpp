#pragma once
/// @file
/// A product of two arrays as a statement: every dimension has a label, and the labels say what is
/// multiplied and added up.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tessera/base/source.hpp"
#include "tessera/detail/array/expr/array_node.hpp"
#include "tessera/detail/base/inline_vector.hpp"
#include "tessera/detail/kernels/products/product_type.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/index/index.hpp"
#include "tessera/layout/named_sharding.hpp"

namespace tessera::detail {

/// The labels of an operand's dimensions; each is one character.
using Labels = InlineVector<char, max_rank>;
[[nodiscard]] Labels labels_of(std::string_view text);

/// An operand or the target of a product: a view, with a label for each of its dimensions.
struct ProductView {
  StatePtr array;
  InlineVector<ViewAxis, max_rank> axes;  ///< of the array's dimensions
  Shape extents;                          ///< of the view
  Labels labels;
};
/// Of a view whose dimensions have these labels.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] ProductView product_view(ArrayNode<T, N, R> const& view, Labels const& labels) {
  ProductView result{view.storage(), {}, view.shape(), labels};
  for (auto const& axis : view.axes()) result.axes.push_back(axis);
  return result;
}

/// Two operands, and what the product is called in messages.
struct ProductOperands {
  ProductView a;
  ProductView b;
  char const* kind;  ///< "matmul"
  SourceLocation location;
};

/// The extents of a result with these labels.
/// Throws: ShapeError if extents of one label differ. Those of 1 against others are repeated where
///         `broadcasts`.
[[nodiscard]] Shape shape_of_product(ProductOperands const& operands, Labels const& result,
                                     bool broadcasts);

/// Throws: ShapeError unless the target has the product's shape.
void check_target(Shape const& target, Shape const& product, char const* kind);

/// Where a result lies if the program does not say: the dimensions that a has are cut as in a, the
/// others as in b, each mesh axis once.
[[nodiscard]] NamedSharding sharding_of_product(ProductOperands const& operands,
                                                Labels const& result, Shape const& shape);

/// What a caller wishes beside the value.
struct ProductWish {
  bool adds = false;          ///< target += in place of target =
  std::int64_t memory_bytes;  ///< of a device, for cells of operands that it lacks
};

/// target = a * b, added up over the labels that the target lacks. The shapes fit, and neither
/// operand has cells of the target. Where there are no terms, does nothing and returns false.
/// Ranks:  collective.
[[nodiscard]] bool multiply_views(ProductOperands const& operands, ProductView const& target,
                                  ProductType type, ProductWish const& wish);

}  // namespace tessera::detail
