// Products whose result is partial: each place along some axes of the mesh adds up the terms that
// it has.

#include <memory>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/ops/products/product.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/ops/partial.hpp"

#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/layout/placement.hpp"
#include "src/ops/products/product_plan.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/ops/products/product_steps.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/submission.hpp"
#include "src/statement/array_model.hpp"

namespace tessera {
namespace {

struct PartialKey {
  ViewKey a, b;
  Labels labels;
  Shape shape;
  NamedSharding sharding;

  friend bool operator==(PartialKey const&, PartialKey const&) = default;
};

// How a product of partial results is computed.
struct PartialPlan {
  std::shared_ptr<Layout const> layers;
  std::shared_ptr<ProductParts const> steps;  // null if there are no terms
  bool needs_zeros = false;                   // some place has no terms
  std::shared_ptr<Layout const> copy_of_a;    // null if the operand is cut as the terms are
  std::shared_ptr<Layout const> copy_of_b;
};

void check_partial(char const* kind, NamedSharding const& sharding, bool is_fast) {
  auto const& spec = sharding.spec();
  if (spec.partial_op() != ReduceOp::sum)
    throw ShardingError(text(kind, ": the partial results of a product are sums, not ",
                             spec.partial_op(), "; ask for .partial(", spec.partial_axes(), ")"));
  if (!is_fast)
    throw UsageError(text(kind,
                          ": partial results depend on how the terms are cut, so their bits "
                          "differ with the devices; allow it by .bits = ts::fast, or ask for "
                          "a sharding without partial axes"));
}

class PartialPlanner {
 public:
  PartialPlanner(ProductOperands const& operands, Labels const& labels, Shape const& shape,
                 NamedSharding const& sharding)
      : operands_(operands),
        labels_(labels),
        shape_(shape),
        sharding_(sharding),
        space_(space_of(operands, layer_of(nullptr, 0, shape, labels))) {}

  [[nodiscard]] PartialPlan plan() const {
    sharding_.without_partial().check(shape_);
    PartialPlan plan;
    plan.layers = layers();
    plan.needs_zeros = true;
    if (space_.terms() == 0 || cells_of(shape_) == 0) return plan;
    auto const& axes = sharding_.spec().partial_axes().axes();
    auto const cut_of_a = own_cut(operands_.a), cut_of_b = own_cut(operands_.b);
    auto const cut = cut_of_a ? *cut_of_a : cut_of_b.value_or(Cut::balanced());
    ProductParts::Sizes const sizes{sharding_.mesh(), axes, cut, space_.extents.back(),
                                    space_.labels.size() - 1};
    plan.needs_zeros = cut.ways_with_cells(sizes.terms, sizes.places()) < sizes.places();
    plan.steps = std::make_shared<ProductParts const>(sizes);
    if (cut_of_a != cut) plan.copy_of_a = copy_layout(operands_.a, cut);
    if (cut_of_b != cut) plan.copy_of_b = copy_layout(operands_.b, cut);
    return plan;
  }

 private:
  [[nodiscard]] std::shared_ptr<Layout const> layers() const {
    auto const& axes = sharding_.spec().partial_axes();
    auto dimensions = placed_dimensions(sharding_.without_partial());
    dimensions.insert(dimensions.begin(), {axes});
    Shape all{devices_along(sharding_.mesh(), axes.axes())};
    for (auto const extent : shape_) all.push_back(extent);
    return std::make_shared<Layout const>(sharding_of(sharding_.mesh(), dimensions), all);
  }

  // How the partial axes cut an operand's terms; none if they do not, or into many small pieces.
  [[nodiscard]] std::optional<Cut> own_cut(ProductView const& view) const {
    auto const& mesh = sharding_.mesh();
    auto const& axes = sharding_.spec().partial_axes().axes();
    auto const label = space_.labels.back();
    auto const terms = space_.extents.back();
    if (axes_of(view, label, terms, mesh) != axes || !is_whole(view, label)) return std::nullopt;
    auto const cut = cut_of(view, label);
    auto const places = devices_along(mesh, axes);
    if (cut.piece_count(terms, places) > most_pieces * places) return std::nullopt;
    return cut;
  }

  // An operand with its terms cut so, and its other dimensions as the result's.
  [[nodiscard]] std::shared_ptr<Layout const> copy_layout(ProductView const& view,
                                                          Cut const& cut) const {
    auto const& spec = sharding_.spec();
    PlacedDimensions dimensions(view.labels.size());
    for (std::size_t d = 0; d < view.labels.size(); ++d) {
      auto const place = place_of(view.labels[d], labels_);
      if (!place)
        dimensions[d] = {spec.partial_axes(), cut};
      else if (view.extents[d] == shape_[*place])
        dimensions[d] = {spec[*place], sharding_.cut(*place)};
    }
    return std::make_shared<Layout const>(sharding_of(sharding_.mesh(), dimensions), view.extents);
  }

  ProductOperands const& operands_;
  Labels const& labels_;
  Shape const& shape_;
  NamedSharding const& sharding_;
  ProductSpace space_;
};

// The operand as it lies, or its copy.
ProductView laid_out(ProductView const& view, std::shared_ptr<Layout const> const& copy,
                     SourceLocation const& location) {
  if (copy == nullptr) return view;
  ProductView result{
      detail::make_state(copy, view.array->element_bytes()), {}, view.extents, view.labels};
  for (std::size_t d = 0; d < view.labels.size(); ++d)
    result.axes.push_back({static_cast<int>(d), 0, 1});
  detail::submit(CopyOfView(view, result, location).statement());
  return result;
}

}  // namespace

detail::StatePtr detail::multiply_to_partials(ProductOperands const& operands, Labels const& labels,
                                              Shape const& shape, NamedSharding const& sharding,
                                              PartialProduct const& how) {
  check_partial(operands.kind, sharding, how.is_fast);
  auto own = operands;
  own.a.array = readable(operands.a.array);
  own.b.array = readable(operands.b.array);
  static RecentPlans<PartialKey, PartialPlan> plans;
  PartialKey const key{ViewKey(own.a), ViewKey(own.b), labels, shape, sharding};
  auto const plan =
      plans.plan_for(key, [&] { return PartialPlanner(own, labels, shape, sharding).plan(); });
  auto const layers = make_state(plan->layers, how.element_bytes);
  auto const result = [&] {
    return make_partial_state(
        sharding_of_sum(plan->layers->sharding(), plan->layers->shape(), ReduceOp::sum), shape,
        {layers, how.sum_partials, nullptr});
  };
  if (plan->needs_zeros) how.set_to_zero(layers);
  if (plan->steps == nullptr) return result();
  own.a = laid_out(own.a, plan->copy_of_a, operands.location);
  own.b = laid_out(own.b, plan->copy_of_b, operands.location);
  auto const into = layer_of(layers, 0, shape, labels);
  ProductStatement first(own, into, nullptr, how.type);
  first.explain_by(how.choice);
  ProductStatement const more(own, into, &into, how.type);
  submit(Operation{{operands.kind, operands.location, plan->steps},
                   {&first.statement(), &more.statement()}});
  return result();
}

}  // namespace tessera
