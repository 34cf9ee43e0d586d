#pragma once
/// @file
/// Products of two arrays whose dimensions have labels: the labels tell which cells are multiplied
/// and over which dimensions the products are summed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "tessera/base/source.hpp"
#include "tessera/detail/array/expr/array_node.hpp"
#include "tessera/detail/base/inline_vector.hpp"
#include "tessera/detail/kernels/products/product_type.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/index/index.hpp"
#include "tessera/layout/named_sharding.hpp"

namespace tessera {
struct PlanChoice;
}
namespace tessera::detail {

/// The labels of an operand's dimensions, one character each.
using Labels = InlineVector<char, max_rank>;
[[nodiscard]] Labels labels_of(std::string_view text);

/// An operand or the target of a product: a view of an array, with a label for each dimension.
struct ProductView {
  StatePtr array;
  InlineVector<ViewAxis, max_rank> axes;  ///< one for each dimension of the array
  Shape extents;                          ///< of the view
  Labels labels;
};
/// Gives the dimensions of a view these labels.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] ProductView product_view(ArrayNode<T, N, R> const& view, Labels const& labels) {
  ProductView result{view.storage(), {}, view.shape(), labels};
  for (auto const& axis : view.axes()) result.axes.push_back(axis);
  return result;
}

/// The two operands of a product, and its name for messages.
struct ProductOperands {
  ProductView a;
  ProductView b;
  char const* kind;  ///< "matmul"
  SourceLocation location;
};

/// The extents of a result with these labels.
/// Throws: ShapeError if extents of one label differ. If `broadcasts` is true, an extent of 1 fits
///         any other, for labels of the result.
[[nodiscard]] Shape shape_of_product(ProductOperands const& operands, Labels const& result,
                                     bool broadcasts);

/// Throws: ShapeError unless the target has the product's shape.
void check_target(Shape const& target, Shape const& product, char const* kind);

/// The sharding of a result if the program gives none: a dimension is cut as in a, or else as in b.
/// Each mesh axis cuts one dimension at most.
[[nodiscard]] NamedSharding sharding_of_product(ProductOperands const& operands,
                                                Labels const& result, Shape const& shape);

/// How multiply_views writes the target, and the memory that it may use.
struct ProductOptions {
  bool adds = false;          ///< target += a * b, instead of target = a * b
  std::int64_t memory_bytes;  ///< per device, for operand cells that it lacks
  /// Where devices have parts of the terms, their sums are added at the end, in other bits than
  /// those of a sum that passes from device to device.
  bool adds_parts = false;
};

/// Computes target = a * b, summed over the labels that the target lacks. The shapes have to fit,
/// and no operand may have cells of the target. If there are no terms, does nothing and returns
/// false.
///
/// Ranks:  collective.
[[nodiscard]] bool multiply_views(ProductOperands const& operands, ProductView const& target,
                                  ProductType type, ProductOptions const& options);

/// Partial results whose sum is the product.
struct PlannedParts {
  NamedSharding sharding;
  std::shared_ptr<PlanChoice const> choice;
};
/// How devices add up the terms that they have, where that is the fastest way; nothing otherwise.
/// `options.adds_parts` is set.
[[nodiscard]] std::optional<PlannedParts> planned_parts(ProductOperands const& operands,
                                                        ProductView const& target, ProductType type,
                                                        ProductOptions const& options);

/// What the partial results of a product are made with.
struct PartialProduct {
  ProductType type;
  std::int64_t element_bytes;
  bool is_fast;  ///< the program allows other bits on other numbers of devices
  std::function<void(StatePtr const&)> set_to_zero;
  decltype(Partials::sum_partials) sum_partials;
  std::shared_ptr<PlanChoice const> choice = nullptr;  ///< if there was one
};
/// A product with partial results, whose result has these labels and these extents. Each place
/// along the partial axes of `sharding` adds up the terms that it owns of a, or else of b, or else
/// an equal part of all terms; operands that are not cut so are copied first. There is one label
/// that the result lacks.
///
/// Ranks:  collective.
/// Throws: ShapeError or ShardingError if the result cannot have this sharding, or the partial
///         results are no sums; UsageError unless `is_fast`.
[[nodiscard]] StatePtr multiply_to_partials(ProductOperands const& operands, Labels const& labels,
                                            Shape const& shape, NamedSharding const& sharding,
                                            PartialProduct const& how);

}  // namespace tessera::detail
