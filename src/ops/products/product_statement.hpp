#pragma once
/// @file
/// One statement of a product, and what the parts of a product do to its views.

#include <array>
#include <cstdint>
#include <optional>

#include "tessera/detail/ops/products/product.hpp"

#include "src/index/index.hpp"

namespace tessera {

using detail::Labels;
using detail::ProductOperands;
using detail::ProductType;
using detail::ProductView;

/// What a dimension of the statement is to the product.
enum class ProductRole : std::uint8_t { batch, row, column, term };

/// All labels in the order of the statement: those of the target, and then the terms in a's order.
struct ProductSpace {
  Labels labels;
  Shape extents;
  std::array<ProductRole, max_rank> roles{};

  [[nodiscard]] std::int64_t terms() const;
};
[[nodiscard]] ProductSpace space_of(ProductOperands const& operands, ProductView const& target);

/// The place of a label in a list.
[[nodiscard]] std::optional<std::size_t> place_of(char label, Labels const& labels);
/// True if an index of the label moves the view: it has the label, and more than one cell of it, or
/// as many as all.
[[nodiscard]] bool is_moved(ProductView const& view, char label, std::int64_t extent);

/// Positions [lo, hi) of a label.
struct LabelPart {
  char label;
  std::int64_t lo;
  std::int64_t hi;
};
/// The view with only these positions of a label, where it has as many as `extent`.
[[nodiscard]] ProductView part_of(ProductView const& view, LabelPart const& part,
                                  std::int64_t extent);

/// target = start + a * b; without a start, from zero. There are terms.
/// Ranks: collective.
void submit_product(ProductOperands const& operands, ProductView const& target,
                    ProductView const* start, ProductType type);
/// target = from, which has the same labels. Ranks: collective.
void submit_copy(ProductView const& from, ProductView const& target,
                 SourceLocation const& location);

}  // namespace tessera
