// Products whose result is partial: each place along some axes of the mesh adds up the terms that
// it has.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/ops/products/product.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/layout/placement.hpp"
#include "src/ops/products/product_statement.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/submission.hpp"
#include "src/statement/array_model.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera {
namespace {

using detail::layout_of;

// The numbers of the operation's statements.
constexpr std::size_t first_terms = 0;
constexpr std::size_t more_terms = 1;

// The terms that each place along some axes adds up.
struct TermsOfPlaces {
  Mesh mesh;
  AxisNames axes;
  Cut cut;
  std::size_t dimension;  ///< of the statements
  std::int64_t terms;
  /// Both operands are cut so: then a place gets no terms from another one.
  bool are_operands_cut_so;

  [[nodiscard]] std::int64_t places() const { return devices_along(mesh, axes); }
  // The pieces of one place, at most.
  [[nodiscard]] std::int64_t most_pieces() const {
    return ceil_div(cut.piece_count(terms, places()), places());
  }
  [[nodiscard]] std::int64_t place_of(DeviceId device) const;
};

// The place of a device along the axes; -1 if it is not on the mesh.
std::int64_t TermsOfPlaces::place_of(DeviceId device) const {
  auto const position = mesh.position_of(device);
  if (!position) return -1;
  auto const coordinates = mesh.coordinates(*position);
  std::int64_t place = 0;
  for (auto const& name : axes) {
    auto const axis = mesh.axis(name);
    place = place * mesh.axes()[axis].size + coordinates[axis];
  }
  return place;
}

// Each place adds up its pieces of the terms in its own layer.
class PartsOfSum final : public OperationSteps {
 public:
  explicit PartsOfSum(TermsOfPlaces sizes) : sizes_(std::move(sizes)) {}

  void visit(Operation const& operation, DeviceSpan const& devices,
             Visit const& visit) const override {
    if (!sizes_.are_operands_cut_so) {
      for (std::int64_t place = 0; place < sizes_.places(); ++place)
        visit_place(operation, place, visit);
      return;
    }
    std::vector<std::int64_t> places;
    for (std::int64_t d = 0; d < devices.count; ++d)
      if (auto const place = sizes_.place_of(DeviceId{devices.first.value() + d}); place >= 0)
        places.push_back(place);
    std::ranges::sort(places);
    auto const repeated = std::ranges::unique(places);
    places.erase(repeated.begin(), repeated.end());
    for (auto const place : places) visit_place(operation, place, visit);
  }
  [[nodiscard]] std::uint64_t hash() const override {
    auto hash = mix(hash_text("parts of a product"), sizes_.cut.fingerprint());
    return mix(hash,
               static_cast<std::uint64_t>(sizes_.terms * 2 + (sizes_.are_operands_cut_so ? 1 : 0)));
  }
  [[nodiscard]] std::int64_t most_steps() const override {
    return sizes_.most_pieces() * (sizes_.are_operands_cut_so ? 1 : sizes_.places());
  }
  [[nodiscard]] std::string words() const override {
    return text("as partial sums of the terms of each place along ", join(sizes_.axes));
  }

 private:
  void visit_place(Operation const& operation, std::int64_t place, Visit const& visit) const {
    auto number = first_terms;
    auto const pieces = sizes_.cut.piece_count(sizes_.terms, sizes_.places());
    for (auto k = place; k < pieces; k += sizes_.places()) {
      auto const piece = sizes_.cut.piece(sizes_.terms, sizes_.places(), k);
      if (piece.size() == 0) continue;
      Statement part = *operation.statements[number];
      part.work.indices.lo[sizes_.dimension] = piece.lo;
      part.work.indices.hi[sizes_.dimension] = piece.hi;
      part.work.map.axes[0].offset = place;
      for (auto& operand : part.operands)
        if (number == more_terms && operand.array == part.target)
          operand.access.map.axes[0].offset = place;
      visit({number, static_cast<std::uint64_t>(k), part});
      number = more_terms;
    }
  }

  TermsOfPlaces sizes_;
};

struct PartialKey {
  ViewKey a, b;
  NamedSharding sharding;
  Shape shape;

  friend bool operator==(PartialKey const&, PartialKey const&) = default;
};

// How a product of partial results is computed.
struct PartialPlan {
  std::shared_ptr<Layout const> layers;
  std::shared_ptr<OperationSteps const> steps;  // null if there are no terms
  bool needs_zeros = false;                     // some place has no terms
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

// A place that owned more pieces than this would take a step for each.
constexpr std::int64_t most_pieces = 8;

TermsOfPlaces terms_of_places(ProductOperands const& operands, ProductSpace const& space,
                              NamedSharding const& sharding) {
  auto const& mesh = sharding.mesh();
  auto const& axes = sharding.spec().partial_axes().axes();
  TermsOfPlaces result{mesh, axes, Cut::balanced(), space.labels.size() - 1, 0, false};
  result.terms = space.extents.back();
  auto const label = space.labels.back();
  auto const gives = [&](ProductView const& view) {
    if (axes_of(view, label, result.terms, mesh) != axes || !is_whole(view, label)) return false;
    auto const places = result.places();
    return cut_of(view, label).piece_count(result.terms, places) <= most_pieces * places;
  };
  bool const of_a = gives(operands.a), of_b = gives(operands.b);
  if (of_a || of_b) result.cut = cut_of(of_a ? operands.a : operands.b, label);
  result.are_operands_cut_so =
      of_a && of_b && cut_of(operands.a, label) == cut_of(operands.b, label);
  return result;
}

PartialPlan plan_partial(ProductOperands const& operands, Labels const& labels, Shape const& shape,
                         NamedSharding const& sharding) {
  auto dimensions = placed_dimensions(sharding.without_partial());
  dimensions.insert(dimensions.begin(), {sharding.spec().partial_axes()});
  Shape all{devices_along(sharding.mesh(), sharding.spec().partial_axes().axes())};
  for (auto const extent : shape) all.push_back(extent);
  PartialPlan plan;
  plan.layers =
      std::make_shared<Layout const>(sharding_of(sharding.mesh(), dimensions), std::move(all));
  auto const space = space_of(operands, layer_of(nullptr, 0, shape, labels));
  if (space.terms() == 0 || cells_of(shape) == 0) {
    plan.needs_zeros = true;
    return plan;
  }
  auto const sizes = terms_of_places(operands, space, sharding);
  plan.needs_zeros = sizes.cut.ways_with_cells(sizes.terms, sizes.places()) < sizes.places();
  plan.steps = std::make_shared<PartsOfSum const>(sizes);
  return plan;
}

}  // namespace

detail::StatePtr detail::multiply_to_layers(ProductOperands const& operands, Labels const& labels,
                                            Shape const& shape, NamedSharding const& sharding,
                                            PartialProduct const& how) {
  check_partial(operands.kind, sharding, how.is_fast);
  auto with_values = operands;
  with_values.a.array = readable(operands.a.array);
  with_values.b.array = readable(operands.b.array);
  static RecentPlans<PartialKey, PartialPlan> plans;
  PartialKey const key{ViewKey(with_values.a), ViewKey(with_values.b), sharding, shape};
  auto const plan =
      plans.plan_for(key, [&] { return plan_partial(with_values, labels, shape, sharding); });
  auto const layers = make_state(plan->layers, how.element_bytes);
  if (plan->needs_zeros) how.set_to_zero(layers);
  if (plan->steps == nullptr) return layers;
  auto const into = layer_of(layers, 0, shape, labels);
  ProductStatement const first(with_values, into, nullptr, how.type);
  ProductStatement const more(with_values, into, &into, how.type);
  submit(Operation{{operands.kind, operands.location, plan->steps},
                   {&first.statement(), &more.statement()}});
  return layers;
}

}  // namespace tessera
