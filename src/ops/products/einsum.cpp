#include "tessera/ops/einsum.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/text.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/statement/array_model.hpp"

namespace tessera::detail {
namespace {

// Where a label occurs: the number of the operand, and of its dimension.
struct Place {
  std::size_t operand;
  std::size_t dimension;
};
std::optional<Place> first_place(std::vector<ProductView> const& views, char label) {
  for (std::size_t i = 0; i < views.size(); ++i)
    if (auto const d = place_of(label, views[i].labels)) return Place{i, *d};
  return std::nullopt;
}

bool is_used(std::vector<ProductView> const& views, char label) {
  return first_place(views, label).has_value();
}

// The labels of the product of a and b: those that the result or another operand has, a's first.
Labels kept_labels(ProductView const& a, ProductView const& b,
                   std::vector<ProductView> const& others, Labels const& result) {
  Labels kept;
  for (auto const* const view : {&a, &b})
    for (auto const label : view->labels)
      if (!place_of(label, kept) && (place_of(label, result) || is_used(others, label)))
        kept.push_back(label);
  return kept;
}

// All operands but i and j.
std::vector<ProductView> without(std::vector<ProductView> const& views, std::size_t i,
                                 std::size_t j) {
  std::vector<ProductView> others;
  for (std::size_t k = 0; k < views.size(); ++k)
    if (k != i && k != j) others.push_back(views[k]);
  return others;
}

// The pair whose product has the fewest cells; of equal ones the first.
std::pair<std::size_t, std::size_t> smallest_pair(std::vector<ProductView> const& views,
                                                  Labels const& result) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  auto fewest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < views.size(); ++i)
    for (std::size_t j = i + 1; j < views.size(); ++j) {
      double cells = 1;
      for (auto const label : kept_labels(views[i], views[j], without(views, i, j), result)) {
        auto const place = *first_place(views, label);
        cells *= static_cast<double>(views[place.operand].extents[place.dimension]);
      }
      if (cells >= fewest) continue;
      fewest = cells;
      best = {i, j};
    }
  return best;
}

// A view of a whole array, with these labels.
ProductView whole_of(StatePtr const& array, Labels const& labels) {
  ProductView view{array, {}, {}, labels};
  for (std::size_t d = 0; d < labels.size(); ++d) {
    view.axes.push_back({static_cast<int>(d), 0, 1});
    view.extents.push_back(layout_of(array)->shape()[d]);
  }
  if (labels.empty()) view.axes.push_back({});  // a product without labels is an array of one cell
  return view;
}

// Multiplies a pair into a new array; none if the product has no terms.
std::optional<ProductView> product_of(ProductOperands const& pair, Labels const& labels,
                                      ProductType type, ProductOptions const& options) {
  auto const shape = shape_of_product(pair, labels, false);
  auto sharding = sharding_of_product(pair, labels, shape);
  if (labels.empty()) sharding = {sharding.mesh(), P(none)};
  auto const array =
      make_state(sharding, labels.empty() ? Shape{1} : shape, pair.a.array->element_bytes());
  auto view = whole_of(array, labels);
  if (!multiply_views(pair, view, type, options)) return std::nullopt;
  return view;
}

}  // namespace

Shape shape_of_einsum(EinsumOperands const& operands, Labels const& result) {
  auto const& views = operands.views;
  for (std::size_t i = 0; i < views.size(); ++i)
    for (std::size_t d = 0; d < views[i].labels.size(); ++d) {
      auto const label = views[i].labels[d];
      auto const first = *first_place(views, label);
      auto const extent = views[first.operand].extents[first.dimension];
      if (views[i].extents[d] != extent)
        throw ShapeError(text(operands.kind, ": dimension ", first.dimension, " of operand ",
                              first.operand, " has ", counted(extent, "cell"), ", dimension ", d,
                              " of operand ", i, " has ", views[i].extents[d], "; both are '",
                              label, "' and have to be equal"));
    }
  Shape shape;
  for (auto const label : result) {
    auto const place = *first_place(views, label);
    shape.push_back(views[place.operand].extents[place.dimension]);
  }
  return shape;
}

NamedSharding sharding_of_einsum(EinsumOperands const& operands, Labels const& result,
                                 Shape const& shape) {
  auto const& views = operands.views;
  return sharding_of_product(
      {views[0], views[views.size() > 1 ? 1 : 0], operands.kind, operands.location}, result, shape);
}

bool evaluate_einsum(EinsumOperands operands, ProductView const& target, ProductType type,
                     ProductOptions const& options) {
  auto& views = operands.views;
  for (auto& view : views) view.array = readable(view.array);
  while (views.size() > 2) {
    auto const [i, j] = smallest_pair(views, target.labels);
    auto others = without(views, i, j);
    auto const labels = kept_labels(views[i], views[j], others, target.labels);
    auto const product =
        product_of({views[i], views[j], operands.kind, operands.location}, labels, type, options);
    if (!product) return false;
    others.insert(others.begin() + static_cast<std::ptrdiff_t>(i), *product);
    views = std::move(others);
  }
  if (views.size() == 2)
    return multiply_views({views[0], views[1], operands.kind, operands.location}, target, type,
                          options);
  submit(CopyOfView(views[0], target, operands.location).statement());
  return true;
}

TensordotLabels labels_of_tensordot(std::size_t a_rank, std::size_t b_rank,
                                    std::span<std::int64_t const> a_axes,
                                    std::span<std::int64_t const> b_axes) {
  TensordotLabels labels;
  (void)resolve_axes(a_axes, a_rank);  // throws if one is missing or named twice
  (void)resolve_axes(b_axes, b_rank);
  auto const place = [](std::int64_t axis, std::size_t rank) {
    return static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  };
  for (std::size_t d = 0; d < a_rank; ++d) labels.a.push_back(static_cast<char>('a' + d));
  for (std::size_t d = 0; d < b_rank; ++d) labels.b.push_back(static_cast<char>('A' + d));
  for (std::size_t k = 0; k < a_axes.size(); ++k)
    labels.b[place(b_axes[k], b_rank)] = labels.a[place(a_axes[k], a_rank)];
  for (auto const label : labels.a)
    if (!place_of(label, labels.b)) labels.result.push_back(label);
  for (auto const label : labels.b)
    if (!place_of(label, labels.a)) labels.result.push_back(label);
  return labels;
}

}  // namespace tessera::detail
