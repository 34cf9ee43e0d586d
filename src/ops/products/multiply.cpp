// Plans a product, and submits it as one statement or as an operation.

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/ops/products/product.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/plan/explanation.hpp"

#include "src/base/text.hpp"
#include "src/index/index.hpp"
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

// True of types whose sums are floats until the end, so that no array of cells can hold them.
bool rounds_last(ProductType type) {
  return type == ProductType::float16 || type == ProductType::bfloat16;
}

// About how many pieces of a view a device has along a label that `axes` cut.
std::int64_t pieces_of_device(ProductView const& view, char label, AxisNames const& axes) {
  auto const r = dimension_of(view, label);
  if (axes.empty() || !r) return 1;
  auto const& layout = *layout_of(view.array);
  auto const parts = devices_along(layout.mesh(), axes);
  auto const extent = view.extents[*place_of(label, view.labels)];
  auto const first = view.axes[*r].offset;
  auto const last = first + (extent - 1) * view.axes[*r].stride;
  auto const pieces = layout.sharding().cut(*r).pieces_intersecting(
      layout.shape()[*r], parts, std::min(first, last), std::max(first, last) + 1);
  return ceil_div(std::min(pieces.size(), extent), parts);
}

struct ProductKey {
  ViewKey a, b, target;
  ProductType type;
  bool adds;
  std::int64_t memory_bytes;
  bool adds_parts;
  Machine machine;

  friend bool operator==(ProductKey const&, ProductKey const&) = default;
};

// How a product is computed.
struct PlannedProduct {
  std::shared_ptr<OperationSteps const> steps;  // null if the product is one statement
  // Layers of the target's shape, for sums that do not lie in the target; else null.
  std::shared_ptr<Layout const> sums;
  std::int64_t first_layer = 0;
  std::int64_t last_layer = 0;
  std::shared_ptr<PlanChoice const> choice = nullptr;
  bool are_parts = false;  // each layer takes the terms that both operands have there
};

constexpr std::int64_t most_boxes = 64;

PlannedLabel planned_label(ProductOperands const& operands, ProductView const& target,
                           ProductSpace const& space, std::size_t d) {
  auto const& mesh = layout_of(target.array)->mesh();
  auto const label = space.labels[d];
  auto const extent = space.extents[d];
  PlannedLabel result{.extent = extent,
                      .in_a = is_moved(operands.a, label, extent),
                      .in_b = is_moved(operands.b, label, extent),
                      .in_target = space.roles[d] != ProductRole::term,
                      .axes_a = axes_of(operands.a, label, extent, mesh),
                      .axes_b = axes_of(operands.b, label, extent, mesh),
                      .axes_target = axes_of(target, label, extent, mesh)};
  result.scattered_a = pieces_of_device(operands.a, label, result.axes_a) > most_pieces;
  result.scattered_b = pieces_of_device(operands.b, label, result.axes_b) > most_pieces;
  return result;
}

// True if the same axes cut the terms of both operands alike, so that each device has its own.
bool have_equal_parts(ProductOperands const& operands, PlannedLabel const& terms, char label) {
  return !terms.axes_a.empty() && terms.axes_a == terms.axes_b && !terms.scattered_a &&
         !terms.scattered_b && cut_of(operands.a, label) == cut_of(operands.b, label);
}

ProductSizes sizes_of(ProductOperands const& operands, ProductView const& target, ProductType type,
                      detail::ProductOptions const& options) {
  auto const space = space_of(operands, target);
  auto const& mesh = layout_of(target.array)->mesh();
  ProductSizes result{.mesh = mesh,
                      .labels = {},
                      .cell_bytes = target.array->element_bytes(),
                      .a_on_mesh = layout_of(operands.a.array)->mesh() == mesh,
                      .b_on_mesh = layout_of(operands.b.array)->mesh() == mesh,
                      .adds = options.adds,
                      .adds_parts = options.adds_parts,
                      .machine = detail::machine()};
  bool terms_are_whole = true;
  std::int64_t boxes = 1;
  InlineVector<std::int64_t, max_rank> pieces;  // of the target on a device, by label
  for (std::size_t d = 0; d < space.labels.size(); ++d) {
    auto const label = space.labels[d];
    auto const& planned = result.labels.emplace_back(planned_label(operands, target, space, d));
    pieces.push_back(pieces_of_device(target, label, planned.axes_target));
    boxes *= pieces.back();
    if (!planned.in_target)
      terms_are_whole =
          terms_are_whole && is_whole(operands.a, label) && is_whole(operands.b, label);
  }
  // Sums elsewhere have one dimension more, that of layers.
  result.may_leave_target = target.labels.size() < max_rank;
  result.may_stay_in_target = boxes <= most_boxes || !result.may_leave_target;
  auto const most = result.may_stay_in_target ? most_pieces : 1;
  for (std::size_t d = 0; d < pieces.size(); ++d)
    result.labels[d].scattered_target = pieces[d] > most;
  result.may_cut_terms = terms_are_whole && !rounds_last(type) &&
                         (!options.adds_parts ||
                          have_equal_parts(operands, result.labels.back(), space.labels.back()));
  return result;
}

// Plans one product: first the roles of the axes, then the steps.
class ProductPlanner {
 public:
  ProductPlanner(ProductOperands const& operands, ProductView const& target, ProductType type,
                 detail::ProductOptions const& options)
      : operands_(operands),
        target_(target),
        type_(type),
        options_(options),
        space_(space_of(operands, target)),
        sizes_(sizes_of(operands, target, type, options)),
        plan_(plan_product(sizes_)) {}

  [[nodiscard]] PlannedProduct plan() const {
    auto result = planned_steps();
    result.choice = std::make_shared<PlanChoice const>(choice(result));
    auto const devices = devices_along(sizes_.mesh, plan_.relay);
    result.are_parts =
        options_.adds_parts && devices > 1 && plan_.relay == sizes_.labels.back().axes_a;
    return result;
  }

 private:
  [[nodiscard]] PlannedProduct planned_steps() const {
    auto slices = sliced();
    if (plan_.is_in_place(sizes_)) {
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

  [[nodiscard]] PlanChoice choice(PlannedProduct const& planned) const {
    PlanChoice result;
    auto const& mesh = sizes_.mesh;
    result.roles = plan_.roles(mesh).text();
    result.seconds = plan_.price.seconds;
    result.received_bytes = std::llround(plan_.price.received_bytes);
    auto const slices = sliced();
    auto const part = plan_.relay.empty()
                          ? static_cast<double>(slices.width) / static_cast<double>(slices.extent)
                          : 1.0;
    result.memory_bytes = std::llround(static_cast<double>(plan_.gathered_bytes(sizes_)) * part);
    // The sums, and the target's cells where they start with these.
    if (planned.sums != nullptr)
      result.memory_bytes += (options_.adds ? 2 : 1) * plan_.sum_bytes(sizes_);
    if (auto const& other = plan_.runner_up) {
      result.runner_up = other->roles(mesh).text();
      result.runner_up_seconds = other->price.seconds;
    }
    return result;
  }

  // The layout of so many layers of the target's shape. The axes of the relay cut the layers, and
  // the plan's axes their cells.
  [[nodiscard]] std::shared_ptr<Layout const> sums(std::int64_t layers) const {
    Shape shape{layers};
    PlacedDimensions dimensions{{SpecEntry(plan_.relay)}};
    for (std::size_t d = 0; d < target_.labels.size(); ++d) {
      shape.push_back(target_.extents[d]);
      dimensions.push_back({SpecEntry(plan_.axes[d]), cut_along(d)});
    }
    return std::make_shared<Layout const>(sharding_of(sizes_.mesh, dimensions), shape);
  }

  // The cut of a dimension by the plan's axes. An array that these axes cut there already gives its
  // cut, so that its cells stay where they are.
  [[nodiscard]] Cut cut_along(std::size_t d) const {
    auto const& label = sizes_.labels[d];
    auto const name = target_.labels[d];
    auto const takes = [&](ProductView const& view, AxisNames const& axes, bool is_scattered) {
      return !axes.empty() && axes == plan_.axes[d] && !is_scattered && is_whole(view, name);
    };
    if (takes(target_, label.axes_target, label.scattered_target)) return cut_of(target_, name);
    if (takes(operands_.a, label.axes_a, label.scattered_a)) return cut_of(operands_.a, name);
    if (takes(operands_.b, label.axes_b, label.scattered_b)) return cut_of(operands_.b, name);
    return Cut::balanced();
  }

  // One slice, or more if the cells that a device lacks would exceed the memory.
  [[nodiscard]] ProductSlices::Sizes sliced() const {
    auto const count = (plan_.gathered_bytes(sizes_) + options_.memory_bytes - 1) /
                       std::max<std::int64_t>(options_.memory_bytes, 1);
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

  // The dimension to slice. If one operand alone is gathered, that is a dimension of its own that
  // no axis cuts, since the other operand then serves all slices. Otherwise it is the terms.
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
    // Sums of terms that are cut into many small pieces pass each device many times. Then chunks
    // would multiply the steps without following each other closely.
    constexpr std::int64_t most_steps = 1024;
    auto const most_chunks = std::max<std::int64_t>(most_steps / stops.most_of_device(), 1);
    bool const has_axes_of_relay = sizes_.labels[terms].axes_b == plan_.relay;
    return {
        .mesh = sizes_.mesh,
        .axes = plan_.relay,
        .stops = stops,
        .cut_of_b = has_axes_of_relay ? std::optional(cut_of(operands_.b, label)) : std::nullopt,
        .starts_with_target = options_.adds,
        .chunked = chunked,
        .chunked_extent = chunked_extent,
        .chunks = chunked ? std::min(relay_chunks(devices, chunked_extent), most_chunks) : 1,
        .terms = terms};
  }

  ProductOperands const& operands_;
  ProductView const& target_;
  ProductType type_;
  detail::ProductOptions const& options_;
  ProductSpace space_;
  ProductSizes sizes_;
  ChosenPlan plan_;
};

std::shared_ptr<PlannedProduct const> plan_of(ProductOperands const& operands,
                                              ProductView const& target, ProductType type,
                                              detail::ProductOptions const& options) {
  static RecentPlans<ProductKey, PlannedProduct> plans;
  ProductKey const key{
      ViewKey(operands.a), ViewKey(operands.b),  ViewKey(target),    type,
      options.adds,        options.memory_bytes, options.adds_parts, detail::machine()};
  return plans.plan_for(key,
                        [&] { return ProductPlanner(operands, target, type, options).plan(); });
}

void submit_steps(ProductOperands const& operands, ProductView const& target, ProductType type,
                  ProductView const* start, PlannedProduct const& planned) {
  StatePtr sums;
  auto into = target;
  std::optional<CopyOfView> copy;
  if (planned.sums != nullptr) {
    sums = detail::make_state(planned.sums, target.array->element_bytes());
    into = layer_of(sums, planned.first_layer, target.extents, target.labels);
    copy.emplace(layer_of(sums, planned.last_layer, target.extents, target.labels), target,
                 operands.location);
  }
  ProductStatement first_terms(operands, into, start, type);
  first_terms.explain_by(planned.choice);
  ProductStatement const more_terms(operands, into, &into, type);
  Operation operation{{operands.kind, operands.location, planned.steps},
                      {&first_terms.statement(), &more_terms.statement()}};
  if (copy) operation.statements.push_back(&copy->statement());
  detail::submit(operation);
}

}  // namespace

std::optional<detail::PlannedParts> detail::planned_parts(ProductOperands const& operands,
                                                          ProductView const& target,
                                                          ProductType type,
                                                          ProductOptions const& options) {
  auto with_values = operands;
  with_values.a.array = readable(operands.a.array);
  with_values.b.array = readable(operands.b.array);
  auto const space = space_of(with_values, target);
  auto const devices = layout_of(target.array)->mesh().size();
  if (devices == 1 || space.terms() == 0 || cells_of(target.extents) == 0) return std::nullopt;
  auto const planned = plan_of(with_values, target, type, options);
  if (!planned->are_parts) return std::nullopt;
  auto const& sums = planned->sums;
  return PlannedParts{sharding_of_sum(sums->sharding(), sums->shape(), ReduceOp::sum),
                      planned->choice};
}

bool detail::multiply_views(ProductOperands const& operands, ProductView const& target,
                            ProductType type, ProductOptions const& options) {
  auto with_values = operands;
  with_values.a.array = readable(operands.a.array);
  with_values.b.array = readable(operands.b.array);
  auto const space = space_of(with_values, target);
  if (space.terms() == 0) return false;
  if (cells_of(target.extents) == 0) return true;
  auto const is_on_one_device = [](ProductView const& view) {
    return layout_of(view.array)->mesh().size() == 1;
  };
  auto const* const start = options.adds ? &target : nullptr;
  bool const needs_plan = !is_on_one_device(target) || !is_on_one_device(with_values.a) ||
                          !is_on_one_device(with_values.b);
  auto const planned = needs_plan ? plan_of(with_values, target, type, options) : nullptr;
  if (planned != nullptr && planned->steps != nullptr) {
    submit_steps(with_values, target, type, start, *planned);
    return true;
  }
  ProductStatement statement(with_values, target, start, type);
  if (planned != nullptr) statement.explain_by(planned->choice);
  submit(statement.statement());
  return true;
}

}  // namespace tessera
