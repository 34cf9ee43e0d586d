#pragma once
/// @file
/// The statements of which products are made, and the dimensions that they go through.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tessera/detail/ops/products/product.hpp"
#include "tessera/layout/cut.hpp"
#include "tessera/layout/layout.hpp"

#include "src/index/index.hpp"
#include "src/mesh/axes.hpp"
#include "src/statement/copy_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

using detail::Labels;
using detail::ProductOperands;
using detail::ProductType;
using detail::ProductView;

/// The role of a dimension. A batch dimension is one of a, b and the target, a row one of a and the
/// target, a column one of b and the target; terms are summed over.
enum class ProductRole : std::uint8_t { batch, row, column, term };

/// The dimensions of a product's statement: those of the target, then the terms in the order of a.
struct ProductSpace {
  Labels labels;
  Shape extents;
  std::array<ProductRole, max_rank> roles{};

  /// The number of terms of each cell.
  [[nodiscard]] std::int64_t terms() const;
};
[[nodiscard]] ProductSpace space_of(ProductOperands const& operands, ProductView const& target);

/// The place of a label in a list; none if it is not there.
[[nodiscard]] std::optional<std::size_t> place_of(char label, Labels const& labels);
/// True if the index along a label selects cells of the view: the view has the label, and does not
/// broadcast one cell to `extent` of them.
[[nodiscard]] bool is_moved(ProductView const& view, char label, std::int64_t extent);

/// The dimension of a view's array that a label names; none if the view lacks the label.
[[nodiscard]] std::optional<std::size_t> dimension_of(ProductView const& view, char label);
/// The axes of `mesh` that cut a view along a label. A view on another mesh has none.
[[nodiscard]] AxisNames axes_of(ProductView const& view, char label, std::int64_t extent,
                                Mesh const& mesh);
/// The cut of an operand along a label that it has.
[[nodiscard]] Cut cut_of(ProductView const& view, char label);
/// True if the view has all cells of the dimension of its array that the label names, in order.
[[nodiscard]] bool is_whole(ProductView const& view, char label);

/// The part of a view from which a plan follows.
struct ViewKey {
  explicit ViewKey(ProductView const& view);

  friend bool operator==(ViewKey const&, ViewKey const&) = default;

  std::shared_ptr<Layout const> layout;  ///< compared by address, so the key keeps it alive
  detail::InlineVector<detail::ViewAxis, max_rank> axes;
  Shape extents;
  Labels labels;
};

/// One layer of an array whose dimension 0 counts layers of the target's shape, as a view with the
/// target's labels.
[[nodiscard]] ProductView layer_of(detail::StatePtr const& layers, std::int64_t number,
                                   Shape const& extents, Labels const& labels);

/// The parameters of a product's kernel.
struct ProductKernel {
  ProductType type;
  bool has_start;
  std::array<ProductRole, max_rank> roles;  ///< of the statement's dimensions
  std::array<std::uint8_t, 3> slots;        ///< numbers of the operands a, b and start
};

/// The statement target = start + a * b; without a start, the sums begin at zero.
/// Shapes:   as multiply_views. There is at least one term, and no array is empty or partial.
/// Lifetime: the statement refers to the arrays and to the kernel of this object.
class ProductStatement {
 public:
  ProductStatement(ProductOperands const& operands, ProductView const& target,
                   ProductView const* start, ProductType type);
  ProductStatement(ProductStatement const&) = delete;
  ProductStatement& operator=(ProductStatement const&) = delete;

  [[nodiscard]] Statement const& statement() const { return statement_; }
  /// Says why the product is computed as it is.
  void explain_by(std::shared_ptr<PlanChoice const> choice) {
    statement_.choice = std::move(choice);
  }

 private:
  ProductKernel kernel_;
  Statement statement_;
};

/// The statement target = from; both have the same labels.
/// Lifetime: as ProductStatement.
class CopyOfView : public CopyStatement {
 public:
  CopyOfView(ProductView const& from, ProductView const& target, SourceLocation const& location);
};

}  // namespace tessera
