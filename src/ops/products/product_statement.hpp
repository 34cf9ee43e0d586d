#pragma once
/// @file
/// One statement of a product, and what the parts of a product do to its views.

#include <array>
#include <cstdint>
#include <optional>

#include "tessera/detail/ops/products/product.hpp"

#include "src/index/index.hpp"
#include "src/statement/copy_kernel.hpp"
#include "src/statement/statement.hpp"

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

/// The kernel of a product: what each dimension is, and which operands are multiplied.
struct ProductKernel {
  ProductType type;
  bool has_start;
  std::array<ProductRole, max_rank> roles;
  std::array<std::uint8_t, 3> slots;  ///< of a, b and the start
};

/// The statement target = start + a * b; without a start, from zero. There are terms.
/// Shapes:   as multiply_views; the arrays have cells, and are no partial ones.
/// Lifetime: names its arrays and its own kernel.
class ProductStatement {
 public:
  ProductStatement(ProductOperands const& operands, ProductView const& target,
                   ProductView const* start, ProductType type);
  ProductStatement(ProductStatement const&) = delete;
  ProductStatement& operator=(ProductStatement const&) = delete;

  [[nodiscard]] Statement const& statement() const { return statement_; }

 private:
  ProductKernel kernel_;
  Statement statement_;
};

/// The statement target = from, which has the same labels.
/// Lifetime: as ProductStatement.
class CopyStatement {
 public:
  CopyStatement(ProductView const& from, ProductView const& target, SourceLocation const& location);
  CopyStatement(CopyStatement const&) = delete;
  CopyStatement& operator=(CopyStatement const&) = delete;

  [[nodiscard]] Statement const& statement() const { return statement_; }

 private:
  CopyKernel kernel_;
  Statement statement_;
};

}  // namespace tessera
