// Carries out the plan of a product.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/ops/products/product.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/text.hpp"
#include "src/kernels/products/product.hpp"
#include "src/layout/placement.hpp"
#include "src/ops/products/product_plan.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/ops/products/product_steps.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/submission.hpp"
#include "src/statement/array_model.hpp"

namespace tessera {
namespace {

using detail::InlineVector;
using detail::layout_of;
using detail::StatePtr;
using detail::ViewAxis;

// The mesh axes that cut a label of a view; none if the view lies on another mesh.
std::vector<std::string> axes_of(ProductView const& view, char label, std::int64_t extent,
                                 Mesh const& mesh) {
  auto const& layout = *layout_of(view.array);
  if (!is_moved(view, label, extent) || !(layout.mesh() == mesh)) return {};
  auto const place = static_cast<int>(*place_of(label, view.labels));
  for (std::size_t r = 0; r < view.axes.size(); ++r)
    if (view.axes[r].from == place) return layout.sharding().spec()[r].axes();
  return {};
}

// How an operand is cut along a label.
Cut cut_of(ProductView const& view, char label) {
  auto const place = static_cast<int>(*place_of(label, view.labels));
  for (std::size_t r = 0; r < view.axes.size(); ++r)
    if (view.axes[r].from == place) return layout_of(view.array)->sharding().cut(r);
  return Cut::balanced();
}

// True if the label moves the view along a whole dimension of its array, cell by cell.
bool is_whole(ProductView const& view, char label) {
  auto const place = place_of(label, view.labels);
  if (!place) return false;
  for (std::size_t r = 0; r < view.axes.size(); ++r)
    if (view.axes[r].from == static_cast<int>(*place))
      return view.axes[r].offset == 0 && view.axes[r].stride == 1 &&
             layout_of(view.array)->shape()[r] == view.extents[*place];
  return false;
}

// Types whose sums are kept in another type until the end: they are not cells of an array.
bool rounds_last(ProductType type) {
  return type == ProductType::float16 || type == ProductType::bfloat16;
}

// What a plan follows from, of one view.
struct ViewKey {
  explicit ViewKey(ProductView const& view)
      : layout(layout_of(view.array)),
        axes(view.axes),
        extents(view.extents),
        labels(view.labels) {}

  friend bool operator==(ViewKey const&, ViewKey const&) = default;

  std::shared_ptr<Layout const> layout;  // the same object, which lives as long as this
  InlineVector<ViewAxis, max_rank> axes;
  Shape extents;
  Labels labels;
};
struct ProductKey {
  ViewKey a, b, target;
  ProductType type;
  bool adds;
  std::int64_t memory_bytes;
  Machine machine;

  friend bool operator==(ProductKey const&, ProductKey const&) = default;
};

// How a product is computed. Without steps it is one statement.
struct PlannedProduct {
  std::shared_ptr<OperationSteps const> steps;
  std::shared_ptr<Layout const> sums;  // where they do not lie in the target: layers of its shape
  std::int64_t first_layer = 0;
  std::int64_t last_layer = 0;
};

ProductSizes sizes_of(ProductOperands const& operands, ProductView const& target, ProductType type,
                      bool adds) {
  auto const space = space_of(operands, target);
  auto const& mesh = layout_of(target.array)->mesh();
  ProductSizes result{.mesh = mesh,
                      .labels = {},
                      .cell_bytes = target.array->element_bytes(),
                      .a_on_mesh = layout_of(operands.a.array)->mesh() == mesh,
                      .b_on_mesh = layout_of(operands.b.array)->mesh() == mesh,
                      .adds = adds,
                      .machine = detail::machine()};
  bool terms_are_whole = true;
  for (std::size_t d = 0; d < space.labels.size(); ++d) {
    auto const label = space.labels[d];
    auto const extent = space.extents[d];
    bool const is_term = space.roles[d] == ProductRole::term;
    result.labels.push_back({.extent = extent,
                             .in_a = is_moved(operands.a, label, extent),
                             .in_b = is_moved(operands.b, label, extent),
                             .in_target = !is_term,
                             .axes_a = axes_of(operands.a, label, extent, mesh),
                             .axes_b = axes_of(operands.b, label, extent, mesh),
                             .axes_target = axes_of(target, label, extent, mesh)});
    if (is_term)
      terms_are_whole =
          terms_are_whole && is_whole(operands.a, label) && is_whole(operands.b, label);
  }
  result.may_cut_terms = terms_are_whole && !rounds_last(type);
  return result;
}

// Plans one product: its roles, and then its steps.
class ProductPlanner {
 public:
  ProductPlanner(ProductOperands const& operands, ProductView const& target, ProductType type,
                 detail::ProductWish const& wish)
      : operands_(operands),
        target_(target),
        type_(type),
        wish_(wish),
        space_(space_of(operands, target)),
        sizes_(sizes_of(operands, target, type, wish.adds)),
        plan_(plan_product(sizes_)) {}

  [[nodiscard]] PlannedProduct plan() const {
    bool const has_room = target_.labels.size() < max_rank;  // for the dimension of layers
    auto slices = sliced();
    if (plan_.is_in_place(sizes_) || !has_room) {
      if (slices.width == slices.extent) return {};  // one statement
      return {std::make_shared<ProductSlices const>(slices), nullptr};
    }
    if (plan_.relay.empty()) {
      slices.is_copied = true;
      return {std::make_shared<ProductSlices const>(slices), sums(1)};
    }
    auto const relay = relay_sizes();
    return {std::make_shared<ProductRelay const>(relay), sums(relay.stops.devices()),
            relay.stops.first().device, relay.stops.last().device};
  }

 private:
  // Layers of the target's shape one behind the other, cut by the axes of the relay and as the plan
  // says.
  [[nodiscard]] std::shared_ptr<Layout const> sums(std::int64_t layers) const {
    Shape shape{layers};
    PlacedDimensions dimensions{{SpecEntry(plan_.relay)}};
    for (std::size_t d = 0; d < target_.labels.size(); ++d) {
      shape.push_back(target_.extents[d]);
      dimensions.push_back({SpecEntry(plan_.axes[d]), cut_along(d)});
    }
    return std::make_shared<Layout const>(sharding_of(sizes_.mesh, dimensions), shape);
  }

  // How the plan's axes cut a dimension: as an array is cut that has these axes there.
  [[nodiscard]] Cut cut_along(std::size_t d) const {
    auto const& label = sizes_.labels[d];
    auto const name = target_.labels[d];
    auto const takes = [&](ProductView const& view, std::vector<std::string> const& axes) {
      return !axes.empty() && axes == plan_.axes[d] && is_whole(view, name);
    };
    if (takes(target_, label.axes_target)) return cut_of(target_, name);
    if (takes(operands_.a, label.axes_a)) return cut_of(operands_.a, name);
    if (takes(operands_.b, label.axes_b)) return cut_of(operands_.b, name);
    return Cut::balanced();
  }

  // All terms at once, or in slices if what a device lacks exceeds the memory.
  [[nodiscard]] ProductSlices::Sizes sliced() const {
    auto const count = (plan_.gathered_bytes(sizes_) + wish_.memory_bytes - 1) /
                       std::max<std::int64_t>(wish_.memory_bytes, 1);
    auto const dimension = count > 1 ? sliced_dimension() : std::nullopt;
    ProductSlices::Sizes slices{.dimension = dimension.value_or(0)};
    slices.extent = slices.width = space_.extents[slices.dimension];
    if (!dimension) return slices;
    slices.are_terms = space_.roles[*dimension] == ProductRole::term;
    auto const unit = slices.are_terms ? block_of_terms : 1;
    slices.width = std::max<std::int64_t>(slices.extent / count / unit * unit, unit);
    slices.width = std::min(slices.width, slices.extent);
    return slices;
  }

  // Along what to slice: a dimension that is not cut, of the only operand that has to be gathered;
  // else the terms.
  [[nodiscard]] std::optional<std::size_t> sliced_dimension() const {
    bool const of_a = plan_.gathers_a(sizes_);
    bool const of_b = plan_.gathers_b(sizes_);
    std::optional<std::size_t> found;
    for (std::size_t d = 0; of_a != of_b && d < plan_.axes.size(); ++d) {
      auto const& label = sizes_.labels[d];
      bool const is_free =
          plan_.axes[d].empty() && (of_a ? label.in_a : label.in_b) && !(label.in_a && label.in_b);
      if (is_free && (!found || label.extent > sizes_.labels[*found].extent)) found = d;
    }
    auto const last = space_.labels.size() - 1;
    bool const has_one_term = last == plan_.axes.size();
    if (!found && has_one_term && !rounds_last(type_)) found = last;
    return found;
  }

  [[nodiscard]] ProductRelay::Sizes relay_sizes() const {
    auto const terms = space_.labels.size() - 1;
    auto const label = space_.labels[terms];
    auto const chunked = plan_.chunked_label(sizes_);
    auto const chunked_extent = chunked ? space_.extents[*chunked] : 1;
    auto const devices = devices_along(sizes_.mesh, plan_.relay);
    RelayStops const stops(cut_of(operands_.a, label), space_.extents[terms], devices);
    // Where the terms are dealt out in small pieces, sums go round many times, and chunks would not
    // follow each other.
    constexpr std::int64_t most_steps = 1024;
    auto const most_chunks = std::max<std::int64_t>(most_steps / stops.most_of_device(), 1);
    bool const has_axes_of_relay = sizes_.labels[terms].axes_b == plan_.relay;
    return {
        .mesh = sizes_.mesh,
        .axes = plan_.relay,
        .stops = stops,
        .cut_of_b = has_axes_of_relay ? std::optional(cut_of(operands_.b, label)) : std::nullopt,
        .starts_with_target = wish_.adds,
        .chunked = chunked,
        .chunked_extent = chunked_extent,
        .chunks = chunked ? std::min(relay_chunks(devices, chunked_extent), most_chunks) : 1,
        .terms = terms};
  }

  ProductOperands const& operands_;
  ProductView const& target_;
  ProductType type_;
  detail::ProductWish const& wish_;
  ProductSpace space_;
  ProductSizes sizes_;
  ProductPlan plan_;
};

std::shared_ptr<PlannedProduct const> plan_of(ProductOperands const& operands,
                                              ProductView const& target, ProductType type,
                                              detail::ProductWish const& wish) {
  static RecentPlans<ProductKey, PlannedProduct> plans;
  ProductKey const key{ViewKey(operands.a), ViewKey(operands.b), ViewKey(target),  type,
                       wish.adds,           wish.memory_bytes,   detail::machine()};
  return plans.plan_for(key, [&] { return ProductPlanner(operands, target, type, wish).plan(); });
}

// The target's shape in a layer of the sums.
ProductView layer_of(StatePtr const& sums, std::int64_t number, ProductView const& target) {
  ProductView view{sums, {}, target.extents, target.labels};
  view.axes.push_back({ViewAxis::fixed, number, 1});
  for (std::size_t d = 0; d < target.labels.size(); ++d)
    view.axes.push_back({static_cast<int>(d), 0, 1});
  return view;
}

void submit_steps(ProductOperands const& operands, ProductView const& target, ProductType type,
                  ProductView const* start, PlannedProduct const& planned) {
  StatePtr sums;
  auto into = target;
  std::optional<CopyStatement> copy;
  if (planned.sums != nullptr) {
    sums = detail::make_state(planned.sums, target.array->element_bytes());
    into = layer_of(sums, planned.first_layer, target);
    copy.emplace(layer_of(sums, planned.last_layer, target), target, operands.location);
  }
  ProductStatement const first_terms(operands, into, start, type);
  ProductStatement const more_terms(operands, into, &into, type);
  Operation operation{{operands.kind, operands.location, planned.steps},
                      {&first_terms.statement(), &more_terms.statement()}};
  if (copy) operation.statements.push_back(&copy->statement());
  detail::submit(operation);
}

}  // namespace

bool detail::multiply_views(ProductOperands const& operands, ProductView const& target,
                            ProductType type, ProductWish const& wish) {
  auto with_values = operands;
  with_values.a.array = readable(operands.a.array);
  with_values.b.array = readable(operands.b.array);
  auto const space = space_of(with_values, target);
  if (space.terms() == 0) return false;
  if (cells_of(target.extents) == 0) return true;
  auto const is_on_one_device = [](ProductView const& view) {
    return layout_of(view.array)->mesh().size() == 1;
  };
  auto const* const start = wish.adds ? &target : nullptr;
  bool const needs_plan = !is_on_one_device(target) || !is_on_one_device(with_values.a) ||
                          !is_on_one_device(with_values.b);
  auto const planned = needs_plan ? plan_of(with_values, target, type, wish) : nullptr;
  if (planned != nullptr && planned->steps != nullptr)
    submit_steps(with_values, target, type, start, *planned);
  else
    submit(ProductStatement(with_values, target, start, type).statement());
  return true;
}

}  // namespace tessera
