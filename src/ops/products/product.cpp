#include "tessera/detail/ops/products/product.hpp"

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"

#include "src/base/text.hpp"
#include "src/layout/placement.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/plan/recent_plans.hpp"

namespace tessera::detail {
namespace {

// The extent of a label in a view; none if the view lacks the label.
std::optional<std::int64_t> extent_in(ProductView const& view, char label) {
  auto const place = place_of(label, view.labels);
  return place ? std::optional(view.extents[*place]) : std::nullopt;
}

[[noreturn]] void refuse_extents(ProductOperands const& operands, char label) {
  throw ShapeError(
      text(operands.kind, ": a of shape ", operands.a.extents, " and b of shape ",
           operands.b.extents, " do not fit: dimension ", *place_of(label, operands.a.labels),
           " of a has ", counted(*extent_in(operands.a, label), "cell"), ", dimension ",
           *place_of(label, operands.b.labels), " of b has ", *extent_in(operands.b, label),
           "; they have to be equal: transpose an operand, or take slices of it"));
}

// How a dimension of the result, of `extent` cells, is placed like a dimension of a view: as the
// first of the array's dimensions that the view's dimension indexes and that is cut. Adds the mesh
// axes to `used`.
PlacedDimension placed_like_view(ProductView const& view, std::size_t dimension,
                                 std::int64_t extent, AxisNames& used) {
  auto const& layout = *layout_of(readable(view.array));
  for (std::size_t r = 0; r < view.axes.size(); ++r) {
    if (view.axes[r].from != static_cast<int>(dimension)) continue;
    auto const result = placed_like(layout, r, extent, used);
    auto const& axes = result.axes.axes();
    if (axes.empty()) continue;
    used.insert(used.end(), axes.begin(), axes.end());
    return result;
  }
  return {};
}

}  // namespace

Labels labels_of(std::string_view text) {
  return Labels(text.begin(), text.end());
}

Shape shape_of_product(ProductOperands const& operands, Labels const& result, bool broadcasts) {
  auto const& [a, b, kind, location] = operands;
  for (std::size_t d = 0; d < a.labels.size(); ++d) {
    auto const label = a.labels[d];
    auto const other = extent_in(b, label);
    bool const may_repeat = broadcasts && place_of(label, result);
    if (!other || *other == a.extents[d] || (may_repeat && (*other == 1 || a.extents[d] == 1)))
      continue;
    refuse_extents(operands, label);
  }
  Shape shape;
  for (auto const label : result) {
    auto const in_a = extent_in(a, label);
    auto const in_b = extent_in(b, label);
    shape.push_back(!in_a || (in_b && *in_a == 1) ? *in_b : *in_a);
  }
  return shape;
}

void check_target(Shape const& target, Shape const& product, char const* kind) {
  if (!(target == product))
    throw ShapeError(text(kind, ": the target has shape ", target, ", the product ", product,
                          "; they have to be equal"));
}

namespace {

struct ResultKey {
  ViewKey a, b;
  Labels labels;
  Shape shape;

  friend bool operator==(ResultKey const&, ResultKey const&) = default;
};

NamedSharding make_sharding(ProductOperands const& operands, Labels const& result,
                            Shape const& shape) {
  auto const& mesh = layout_of(operands.a.array)->mesh();
  bool const is_one_mesh = layout_of(operands.b.array)->mesh() == mesh;
  AxisNames used;
  PlacedDimensions dimensions(result.size());
  // All dimensions of a come first: a mesh axis that cuts both operands cuts a's dimension.
  for (auto const* const view : {&operands.a, &operands.b}) {
    if (view == &operands.b && !is_one_mesh) break;
    for (std::size_t d = 0; d < result.size(); ++d) {
      auto const place = place_of(result[d], view->labels);
      if (!place || !is_moved(*view, result[d], shape[d])) continue;
      if (dimensions[d].axes.axes().empty())
        dimensions[d] = placed_like_view(*view, *place, shape[d], used);
    }
  }
  return sharding_of(mesh, dimensions);
}

}  // namespace

NamedSharding sharding_of_product(ProductOperands const& operands, Labels const& result,
                                  Shape const& shape) {
  static RecentPlans<ResultKey, NamedSharding> shardings;
  auto with_values = operands;
  with_values.a.array = readable(operands.a.array);
  with_values.b.array = readable(operands.b.array);
  return *shardings.plan_for({ViewKey(with_values.a), ViewKey(with_values.b), result, shape},
                             [&] { return make_sharding(with_values, result, shape); });
}

}  // namespace tessera::detail
