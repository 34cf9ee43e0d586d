#include "src/ops/products/product_statement.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/hash.hpp"

#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/kernels/products/gpu_cells.hpp"
#include "src/kernels/products/product.hpp"
#include "src/plan/access.hpp"
#include "src/statement/array_model.hpp"

namespace tessera {
namespace {

using detail::GpuLauncher;
using detail::KernelCall;
using detail::layout_of;
using detail::named;
using detail::ViewAxis;

// The product that a call of the kernel computes.
Product product_of(KernelCall const& call) {
  auto const& kernel = *static_cast<ProductKernel const*>(call.kernel);
  auto const& a = call.operands[kernel.slots[0]];
  auto const& b = call.operands[kernel.slots[1]];
  Product product;
  product.a = a.first;
  product.b = b.first;
  product.c = call.target;
  product.pause = {call.pause, call.pause_context};
  Index const* start_strides = nullptr;
  if (kernel.has_start) {
    auto const& start = call.operands[kernel.slots[2]];
    product.start = start.first;
    start_strides = start.strides;
  }
  std::array<ProductDimensions*, 4> const kinds{&product.batch, &product.rows, &product.columns,
                                                &product.terms};
  for (std::size_t d = 0; d < call.extents->size(); ++d)
    kinds[static_cast<std::size_t>(kernel.roles[d])]->push_back(
        {(*call.extents)[d], (*a.strides)[d], (*b.strides)[d],
         start_strides == nullptr ? 0 : (*start_strides)[d], (*call.target_strides)[d]});
  return product;
}

// Computes the whole box; the range of rows is ignored, since the form takes whole parts.
void multiply_box(void const* context, std::int64_t, std::int64_t) {
  auto const& call = *static_cast<KernelCall const*>(context);
  multiply(static_cast<ProductKernel const*>(call.kernel)->type, product_of(call));
}

int launch_box(detail::GpuCall const& call) {
  return launch_on_gpu(static_cast<ProductKernel const*>(call.box.kernel)->type,
                       merged(product_of(call.box)), {call.stream, call.multiprocessors});
}
// Null where the library was built without a compiler for GPUs.
GpuLauncher const gpu_product = has_gpu_products() ? &launch_box : nullptr;

// The label of a product's only dimension if its views have none.
constexpr char no_label = '.';

void add_dimension(ProductSpace& space, char label, std::int64_t extent, ProductRole role) {
  if (space.labels.size() == max_rank)
    throw UsageError(text("a product of two operands has more than ", max_rank,
                          " different dimensions; multiply slices of them"));
  space.roles[space.labels.size()] = role;
  space.labels.push_back(label);
  space.extents.push_back(extent);
}

// Maps the dimensions of the statement to cells of a view's array.
Access access_of(ProductView const& view, ProductSpace const& space) {
  AffineMap map{space.labels.size(), {}};
  for (auto const& axis : view.axes) {
    int from = AxisMap::fixed;
    if (axis.from != ViewAxis::fixed) {
      auto const label = view.labels[static_cast<std::size_t>(axis.from)];
      auto const d = *place_of(label, space.labels);
      if (is_moved(view, label, space.extents[d])) from = static_cast<int>(d);
    }
    map.axes.push_back({from, axis.offset, axis.stride, axis.per_step});
  }
  return Access::plain(map);
}

ProductSpace space_of_copy(ProductView const& target) {
  ProductSpace space{target.labels, target.extents, {}};
  if (space.labels.empty()) add_dimension(space, no_label, 1, ProductRole::row);
  return space;
}

std::uint64_t hash_of(ProductKernel const& kernel) {
  auto hash = detail::hash_text("product");
  hash = detail::mix(hash, static_cast<std::uint64_t>(kernel.type));
  hash = detail::mix(hash, kernel.has_start ? 1 : 0);
  for (auto const role : kernel.roles) hash = detail::mix(hash, static_cast<std::uint64_t>(role));
  for (auto const slot : kernel.slots) hash = detail::mix(hash, slot);
  return hash;
}

}  // namespace

std::int64_t ProductSpace::terms() const {
  std::int64_t terms = 1;
  for (std::size_t d = 0; d < labels.size(); ++d)
    if (roles[d] == ProductRole::term) terms *= extents[d];
  return terms;
}

std::optional<std::size_t> place_of(char label, Labels const& labels) {
  auto const* const found = std::find(labels.begin(), labels.end(), label);
  if (found == labels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - labels.begin());
}

bool is_moved(ProductView const& view, char label, std::int64_t extent) {
  auto const place = place_of(label, view.labels);
  return place && (view.extents[*place] != 1 || extent == 1);
}

std::optional<std::size_t> dimension_of(ProductView const& view, char label) {
  auto const place = place_of(label, view.labels);
  for (std::size_t r = 0; place && r < view.axes.size(); ++r)
    if (view.axes[r].from == static_cast<int>(*place)) return r;
  return std::nullopt;
}

AxisNames axes_of(ProductView const& view, char label, std::int64_t extent, Mesh const& mesh) {
  auto const& layout = *layout_of(view.array);
  if (!is_moved(view, label, extent) || !(layout.mesh() == mesh)) return {};
  auto const r = dimension_of(view, label);
  return r ? layout.sharding().spec()[*r].axes() : AxisNames();
}

Cut cut_of(ProductView const& view, char label) {
  auto const r = dimension_of(view, label);
  return r ? layout_of(view.array)->sharding().cut(*r) : Cut::balanced();
}

bool is_whole(ProductView const& view, char label) {
  auto const r = dimension_of(view, label);
  return r && view.axes[*r].offset == 0 && view.axes[*r].stride == 1 &&
         layout_of(view.array)->shape()[*r] == view.extents[*place_of(label, view.labels)];
}

ViewKey::ViewKey(ProductView const& view)
    : layout(layout_of(view.array)), axes(view.axes), extents(view.extents), labels(view.labels) {}

ProductView layer_of(detail::StatePtr const& layers, std::int64_t number, Shape const& extents,
                     Labels const& labels) {
  ProductView view{layers, {}, extents, labels};
  view.axes.push_back({ViewAxis::fixed, number, 1});
  for (std::size_t d = 0; d < labels.size(); ++d) view.axes.push_back({static_cast<int>(d), 0, 1});
  return view;
}

ProductSpace space_of(ProductOperands const& operands, ProductView const& target) {
  ProductSpace space;
  for (std::size_t d = 0; d < target.labels.size(); ++d) {
    auto const label = target.labels[d];
    auto const extent = target.extents[d];
    bool const in_a = is_moved(operands.a, label, extent);
    bool const in_b = is_moved(operands.b, label, extent);
    add_dimension(space, label, extent,
                  in_a && in_b ? ProductRole::batch
                  : in_b       ? ProductRole::column
                               : ProductRole::row);
  }
  for (auto const* const view : {&operands.a, &operands.b})
    for (std::size_t d = 0; d < view->labels.size(); ++d)
      if (!place_of(view->labels[d], space.labels))
        add_dimension(space, view->labels[d], view->extents[d], ProductRole::term);
  // A statement has at least one dimension.
  if (space.labels.empty()) add_dimension(space, no_label, 1, ProductRole::term);
  return space;
}

ProductStatement::ProductStatement(ProductOperands const& operands, ProductView const& target,
                                   ProductView const* start, ProductType type) {
  auto const space = space_of(operands, target);
  statement_.kind = operands.kind;
  statement_.location = operands.location;
  // A program that multiplies asks for this communication, so it is not worth a warning.
  statement_.purpose = detail::Purpose::transfer;
  statement_.work = {layout_of(target.array), access_of(target, space).map, whole(space.extents)};
  statement_.target = named(target.array);
  statement_.mode = detail::WriteMode::fold;
  kernel_ = {type, start != nullptr, space.roles, {}};
  std::size_t next = 0;
  for (auto const* const view : {&operands.a, &operands.b, start})
    if (view != nullptr)
      kernel_.slots[next++] = static_cast<std::uint8_t>(
          statement_.add_operand(view->array, access_of(*view, space), -1));
  statement_.type_hash = hash_of(kernel_);
  statement_.forms = {&multiply_box, &multiply_box, nullptr, &gpu_product};
  statement_.kernel = &kernel_;
  statement_.kernel_bytes = sizeof kernel_;
}

CopyOfView::CopyOfView(ProductView const& from, ProductView const& target,
                       SourceLocation const& location)
    : CopyStatement(target.array, access_of(target, space_of_copy(target)).map, from.array,
                    access_of(from, space_of_copy(target)).map, space_of_copy(target).extents,
                    location) {}

}  // namespace tessera
