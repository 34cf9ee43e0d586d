#include "src/ops/collectives/member_shapes.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/layout/placement.hpp"
#include "src/mesh/axes.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 62;

std::size_t index_of(std::int64_t number) {
  return static_cast<std::size_t>(number);
}

// Mesh axes along which all members lie, list after list.
SpecEntry all_axes(Group const& group) {
  auto names = group.list_axes().axes();
  auto const& members = group.member_axes().axes();
  names.insert(names.end(), members.begin(), members.end());
  return SpecEntry(std::move(names));
}

std::int64_t members_of(Group const& group) {
  return group.size() * group.count();
}

// Pieces of these sizes; none: all alike.
PlacedDimension placed(SpecEntry axes, Sizes sizes) {
  if (sizes.empty()) return {std::move(axes)};
  return {std::move(axes), Cut::explicit_sizes(std::move(sizes))};
}

std::shared_ptr<Layout const> laid_out(Group const& group, PlacedDimensions const& dimensions,
                                       Shape const& shape) {
  return std::make_shared<Layout const>(sharding_of(group.mesh(), dimensions), shape);
}

// Throws: ShapeError if there would be more cells than an array can have.
std::int64_t times(std::int64_t extent, std::int64_t count) {
  if (count != 0 && extent > most_cells / count)
    throw ShapeError(text("values of ", extent, " cells along a dimension are more than 2^62 for ",
                          counted(count, "member"), " together"));
  return extent * count;
}
std::int64_t total(std::span<std::int64_t const> sizes) {
  std::int64_t sum = 0;
  for (auto const size : sizes) {
    if (size > most_cells - sum)
      throw ShapeError("the values have more than 2^62 cells along a dimension together");
    sum += size;
  }
  return sum;
}

// Throws: ShapeError if the values differ along another dimension than `axis`.
void check_alike(MemberShapes const& shapes, std::size_t axis) {
  if (axis == shapes.axis || shapes.sizes.empty()) return;
  throw ShapeError(text("the values of ", shapes.group, " differ along dimension ", shapes.axis,
                        ", so they cannot lie side by side along dimension ", axis,
                        "; join them along dimension ", shapes.axis));
}

}  // namespace

AliasAxes same_axes(std::size_t rank) {
  AliasAxes axes;
  for (std::size_t d = 0; d < rank; ++d) axes.push_back({static_cast<int>(d), 1});
  return axes;
}

MemberShapesPtr make_shapes(Group const& group, Shape const& shape, std::size_t axis, Sizes sizes,
                            std::optional<std::int64_t> only) {
  MemberShapes made{group, shape, axis, std::move(sizes), only, nullptr};
  if (group.size() == 1) made.only.reset();  // then all values exist
  if (!made.sizes.empty()) {
    made.shape[axis] = *std::max_element(made.sizes.begin(), made.sizes.end());
    bool const is_alike = std::all_of(made.sizes.begin(), made.sizes.end(),
                                      [&](auto size) { return size == made.shape[axis]; });
    if (is_alike) made.sizes.clear();
  }
  check_shape(made.shape);
  PlacedDimensions dimensions(shape.size());
  dimensions[axis] = placed(all_axes(group), made.sizes);
  auto all = made.shape;
  all[axis] = made.sizes.empty() ? times(all[axis], members_of(group)) : total(made.sizes);
  check_shape(all);
  made.layout = laid_out(group, dimensions, all);
  return std::make_shared<MemberShapes const>(std::move(made));
}

MemberShapesPtr equal_shapes(Group const& group, Shape const& shape) {
  return make_shapes(group, shape, 0, {});
}

MemberShapesPtr shapes_by(Group const& group, std::size_t rank,
                          std::function<Shape(tessera::Member const&)> const& shape_of) {
  std::vector<Shape> found;
  for (std::int64_t list = 0; list < group.count(); ++list)
    for (std::int64_t r = 0; r < group.size(); ++r) {
      found.push_back(shape_of({r, list, group.device(r, list)}));
      check_shape(found.back(), rank);
    }
  std::optional<std::size_t> axis;
  for (std::size_t m = 1; m < found.size(); ++m)
    for (std::size_t d = 0; d < rank; ++d) {
      if (found[m][d] == found[0][d]) continue;
      if (axis.value_or(d) != d)
        throw ShapeError(text("the values of ", group, " differ along dimensions ", *axis, " and ",
                              d, ": rank 0 has ", found[0], ", another member ", found[m],
                              "; they may differ along one dimension only"));
      axis = d;
    }
  Sizes sizes;
  for (auto const& shape : found) sizes.push_back(shape[axis.value_or(0)]);
  return make_shapes(group, found[0], axis.value_or(0), std::move(sizes));
}

Shape MemberShapes::shape_of(std::int64_t rank, std::int64_t list) const {
  (void)group.device(rank, list);
  if (only && rank != *only)
    throw UsageError(text("rank ", rank, " of ", group, " has no value: only rank ", *only,
                          " received it; broadcast gives it to all"));
  auto result = shape;
  if (!sizes.empty()) result[axis] = sizes[index_of(list * group.size() + rank)];
  return result;
}

std::int64_t joined_extent(MemberShapes const& shapes, std::size_t axis, std::int64_t list) {
  auto const size = shapes.group.size();
  if (axis != shapes.axis || shapes.sizes.empty()) return times(shapes.shape[axis], size);
  return total(std::span(shapes.sizes).subspan(index_of(list * size), index_of(size)));
}

Seen side_by_side(MemberShapes const& shapes, std::size_t axis) {
  check_alike(shapes, axis);
  if (axis == shapes.axis) return {shapes.layout, same_axes(shapes.shape.size())};
  PlacedDimensions dimensions(shapes.shape.size());
  dimensions[axis] = placed(all_axes(shapes.group), {});
  auto all = shapes.shape;
  all[axis] = times(all[axis], members_of(shapes.group));
  check_shape(all);
  return {laid_out(shapes.group, dimensions, all), same_axes(all.size())};
}

Seen lists_side_by_side(MemberShapes const& shapes, std::size_t axis) {
  check_alike(shapes, axis);
  Sizes sizes;  // of the lists; none: all alike
  for (std::size_t first = 0; first < shapes.sizes.size(); first += index_of(shapes.group.size()))
    sizes.push_back(shapes.sizes[first]);
  PlacedDimensions dimensions(shapes.shape.size());
  dimensions[axis] = placed(shapes.group.list_axes(), sizes);
  auto all = shapes.shape;
  all[axis] = sizes.empty() ? times(all[axis], shapes.group.count()) : total(sizes);
  return {laid_out(shapes.group, dimensions, all), same_axes(all.size())};
}

Seen crosswise(MemberShapes const& shapes, std::size_t axis, std::size_t joined) {
  auto const size = shapes.group.size();
  check_alike(shapes, axis);
  PlacedDimensions dimensions(shapes.shape.size());
  dimensions[joined] = placed(shapes.group.list_axes(), {});
  auto all = shapes.shape;
  all[joined] = times(all[joined], shapes.group.count());
  Sizes sizes(shapes.sizes.begin(),
              shapes.sizes.begin() + std::min(size, std::ssize(shapes.sizes)));
  all[axis] = sizes.empty() ? times(all[axis], size) : total(sizes);
  dimensions[axis] = placed(shapes.group.member_axes(), std::move(sizes));
  check_shape(all);
  return {laid_out(shapes.group, dimensions, all), same_axes(all.size())};
}

Seen one_by_one(MemberShapes const& shapes) {
  auto const& group = shapes.group;
  PlacedDimensions dimensions(shapes.shape.size() + 1);
  dimensions[0] = placed(group.member_axes(), {});
  dimensions[1] = placed(group.list_axes(), {});
  Shape all{group.size()};
  for (auto const extent : shapes.shape) all.push_back(extent);
  all[1] = times(all[1], group.count());
  check_shape(all);
  AliasAxes axes{{}};
  for (auto const& axis : same_axes(shapes.shape.size())) axes.push_back(axis);
  return {laid_out(group, dimensions, all), axes};
}

namespace {

// The cells of whole pieces along `axis`: of one value, or of all values of a list together.
Seen with_pieces(MemberShapes const& shapes, std::size_t axis, PlacedDimension const& pieces,
                 PlacedDimension const& cells, AliasAxis const& between_pieces) {
  auto const size = shapes.group.size();
  Shape all;
  PlacedDimensions dimensions;
  AliasAxes axes;
  for (std::size_t d = 0; d < shapes.shape.size(); ++d) {
    if (d == axis) {
      all.push_back(size);
      dimensions.push_back(pieces);
      axes.push_back(between_pieces);
    }
    all.push_back(shapes.shape[d]);
    dimensions.emplace_back();
    axes.push_back({static_cast<int>(d), 1});
  }
  all[axis + 1] = times(all[axis + 1], shapes.group.count());
  dimensions[axis + 1] = cells;
  check_shape(all);
  return {laid_out(shapes.group, dimensions, all), axes};
}

}  // namespace

Seen in_pieces(MemberShapes const& shapes, std::size_t axis) {
  auto const piece = shapes.shape[axis] / shapes.group.size();
  return with_pieces(shapes, axis, {}, placed(all_axes(shapes.group), {}),
                     {static_cast<int>(axis), piece});
}

Seen pieces_joined(MemberShapes const& shapes, std::size_t axis) {
  return with_pieces(shapes, axis, placed(shapes.group.member_axes(), {}),
                     placed(shapes.group.list_axes(), {}), {});
}

Seen pieces_by_counts(MemberShapes const& shapes, std::size_t axis, Sizes const& counts) {
  auto const size = shapes.group.size(), all_members = members_of(shapes.group);
  std::vector<Cut::Segment> segments;
  for (std::int64_t sender = 0; sender < all_members; ++sender) {
    Sizes pieces(index_of(all_members), 0);
    auto const first = counts.begin() + sender * size;
    std::copy(first, first + size, pieces.begin() + sender / size * size);
    auto const cells = total(pieces);
    segments.emplace_back(cells, Cut::explicit_sizes(std::move(pieces)));
  }
  PlacedDimensions dimensions(shapes.shape.size());
  dimensions[axis] = {all_axes(shapes.group), Cut::segments(std::move(segments))};
  auto all = shapes.shape;
  all[axis] = total(counts);
  return {laid_out(shapes.group, dimensions, all), same_axes(all.size()), axis};
}

Seen of_ranks(MemberShapes const& shapes, Sizes const& ranks) {
  auto const& group = shapes.group;
  std::vector<std::int64_t> devices;
  Sizes sizes;
  for (std::int64_t list = 0; list < group.count(); ++list)
    for (auto const rank : ranks) {
      devices.push_back(group.device(rank, list).value());
      sizes.push_back(shapes.sizes.empty() ? shapes.shape[shapes.axis]
                                           : shapes.sizes[index_of(list * group.size() + rank)]);
    }
  auto all = shapes.shape;
  all[shapes.axis] = total(sizes);
  PlacedDimensions dimensions(all.size());
  dimensions[shapes.axis] = placed("member", std::move(sizes));
  Mesh const mesh(devices, Shape{std::ssize(devices)}, {"member"});
  return {std::make_shared<Layout const>(sharding_of(mesh, dimensions), all),
          same_axes(all.size())};
}

}  // namespace tessera::detail
