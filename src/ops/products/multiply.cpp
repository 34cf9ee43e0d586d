// Carries out the plan of a product.

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/ops/products/product.hpp"

#include "src/base/text.hpp"
#include "src/kernels/products/product.hpp"
#include "src/layout/placement.hpp"
#include "src/ops/products/product_plan.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/plan/recent_plans.hpp"
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

  friend bool operator==(ProductKey const&, ProductKey const&) = default;
};
struct PlannedProduct {
  ProductSizes sizes;
  ProductPlan plan;
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
                      .adds = adds};
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

std::shared_ptr<PlannedProduct const> plan_of(ProductOperands const& operands,
                                              ProductView const& target, ProductType type,
                                              bool adds) {
  static RecentPlans<ProductKey, PlannedProduct> plans;
  ProductKey const key{ViewKey(operands.a), ViewKey(operands.b), ViewKey(target), type, adds};
  return plans.plan_for(key, [&] {
    auto const sizes = sizes_of(operands, target, type, adds);
    return PlannedProduct{sizes, plan_product(sizes)};
  });
}

class Multiplication {
 public:
  Multiplication(ProductOperands const& operands, ProductView const& target, ProductType type,
                 detail::ProductWish const& wish)
      : operands_(operands),
        target_(target),
        type_(type),
        wish_(wish),
        space_(space_of(operands, target)),
        planned_(plan_of(operands, target, type, wish.adds)),
        sizes_(planned_->sizes),
        plan_(planned_->plan) {}

  void run() {
    ProductView const* const start = wish_.adds ? &target_ : nullptr;
    bool const has_room = target_.labels.size() < max_rank;  // for the dimension of a stack
    if (plan_.is_in_place(sizes_) || !has_room) return multiply(target_, start);
    if (!plan_.relay.empty()) return relay(start);
    auto const computed = stack(1, {});
    auto const layer = layer_of(computed, 0);
    multiply(layer, start);
    submit_copy(layer, target_, operands_.location);
  }

 private:
  // Layers of the target's shape one behind the other, the layers cut by `relay` and their
  // dimensions as the plan says.
  [[nodiscard]] StatePtr stack(std::int64_t layers, std::vector<std::string> const& relay) const {
    Shape shape{layers};
    PlacedDimensions dimensions{{SpecEntry(relay)}};
    for (std::size_t d = 0; d < target_.labels.size(); ++d) {
      shape.push_back(target_.extents[d]);
      dimensions.push_back({SpecEntry(plan_.axes[d]), cut_along(d)});
    }
    return make_state(sharding_of(sizes_.mesh, dimensions), shape, target_.array->element_bytes());
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

  [[nodiscard]] ProductView layer_of(StatePtr const& stack, std::int64_t number) const {
    ProductView view{stack, {}, target_.extents, target_.labels};
    view.axes.push_back({ViewAxis::fixed, number, 1});
    for (std::size_t d = 0; d < target_.labels.size(); ++d)
      view.axes.push_back({static_cast<int>(d), 0, 1});
    return view;
  }

  // What an operation on a part of a label sees.
  [[nodiscard]] ProductOperands narrowed(ProductOperands const& operands,
                                         LabelPart const& part) const {
    auto const extent = space_.extents[*place_of(part.label, space_.labels)];
    auto result = operands;
    result.a = part_of(operands.a, part, extent);
    result.b = part_of(operands.b, part, extent);
    return result;
  }

  // All terms, where `into` lies. If what a device lacks exceeds the memory, in slices.
  void multiply(ProductView const& into, ProductView const* start) {
    auto const slices = (plan_.gathered_bytes(sizes_) + wish_.memory_bytes - 1) /
                        std::max<std::int64_t>(wish_.memory_bytes, 1);
    auto const label = slices > 1 ? sliced_label() : std::nullopt;
    if (!label) return submit_product(operands_, into, start, type_);
    bool const is_term = space_.roles[*label] == ProductRole::term;
    auto const extent = space_.extents[*label];
    auto const unit = is_term ? block_of_terms : 1;
    auto const width = std::max<std::int64_t>(extent / slices / unit * unit, unit);
    for (std::int64_t lo = 0; lo < extent; lo += width) {
      LabelPart const part{space_.labels[*label], lo, std::min(extent, lo + width)};
      auto const of_part = narrowed(operands_, part);
      if (is_term) {
        submit_product(of_part, into, lo == 0 ? start : &into, type_);
        continue;
      }
      auto const from = start == nullptr ? into : part_of(*start, part, extent);
      submit_product(of_part, part_of(into, part, extent), start == nullptr ? nullptr : &from,
                     type_);
    }
  }

  // Along what to slice: a dimension that is not cut, of the only operand that has to be gathered;
  // else the terms.
  [[nodiscard]] std::optional<std::size_t> sliced_label() const {
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

  // Sums pass from the device with the first terms to the one with the last, in chunks.
  void relay(ProductView const* start) {
    auto const devices = devices_along(sizes_.mesh, plan_.relay);
    auto const sums = stack(devices, plan_.relay);
    auto const terms = space_.labels.size() - 1;
    auto const steps =
        relay_terms(cut_of(operands_.a, space_.labels[terms]), space_.extents[terms], devices);
    auto const chunked = plan_.chunked_label(sizes_);
    if (!chunked) {
      add_terms(sums, steps, std::nullopt, start);
    } else {
      auto const extent = space_.extents[*chunked];
      auto const chunks = relay_chunks(devices, extent);
      for (std::int64_t c = 0; c < chunks; ++c)
        add_terms(
            sums, steps,
            LabelPart{space_.labels[*chunked], extent * c / chunks, extent * (c + 1) / chunks},
            start);
    }
    submit_copy(layer_of(sums, steps.back().device), target_, operands_.location);
  }

  void add_terms(StatePtr const& sums, std::vector<RelayTerms> const& steps,
                 std::optional<LabelPart> const& chunk, ProductView const* start) {
    auto const term = space_.labels[space_.labels.size() - 1];
    auto const of_chunk = chunk ? narrowed(operands_, *chunk) : operands_;
    auto const chunk_of = [&](ProductView const& view) {
      return chunk ? part_of(view, *chunk, space_.extents[*place_of(chunk->label, space_.labels)])
                   : view;
    };
    auto before = chunk_of(target_);
    bool has_start = start != nullptr;
    for (auto const& step : steps) {
      auto const of_step = narrowed(of_chunk, {term, step.lo, step.hi});
      auto const into = chunk_of(layer_of(sums, step.device));
      submit_product(of_step, into, has_start ? &before : nullptr, type_);
      before = into;
      has_start = true;
    }
  }

  ProductOperands const& operands_;
  ProductView const& target_;
  ProductType type_;
  detail::ProductWish const& wish_;
  ProductSpace space_;
  std::shared_ptr<PlannedProduct const> planned_;
  ProductSizes const& sizes_;
  ProductPlan const& plan_;
};

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
  if (is_on_one_device(target) && is_on_one_device(with_values.a) &&
      is_on_one_device(with_values.b)) {
    // Nothing to plan.
    submit_product(with_values, target, wish.adds ? &target : nullptr, type);
    return true;
  }
  Multiplication(with_values, target, type, wish).run();
  return true;
}

}  // namespace tessera
