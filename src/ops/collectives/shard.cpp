#include "tessera/ops/shard.hpp"

#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/expr/arguments.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

DevicePieces pieces_of(Strategy const& strategy, Shape const& shape, std::int64_t device) {
  auto const devices = strategy.num_devices();
  if (!devices)
    throw ShardingError(text("shard: ", strategy,
                             " is for any number of devices; name it, as in rowwise(4) or "
                             ".num_devices = 4"));
  if (device < 0 || device >= *devices)
    throw IndexError(text("shard: device ", device, " is not one of the ", *devices, " of ",
                          strategy, "; they are counted from 0"));
  auto const sharding = strategy.on(Mesh({{"device", *devices}}), "device", shape);
  DevicePieces result;
  if (auto const axis = strategy.axis()) result.dimension = resolve_axis(*axis, shape.size());
  for (auto const& box : sharding.boxes_of(DeviceId{device}, shape))
    result.pieces.push_back({box.lo[result.dimension], box.hi[result.dimension]});
  return result;
}

Layout layout_of_stack(std::vector<Shape> const& shapes, Mesh const& mesh, SpecEntry const& axes,
                       std::int64_t axis) {
  check_any(std::ssize(shapes), "shard_and_stack");
  auto const& of_one = shapes.front();
  for (auto const& shape : shapes) check_same_shape(of_one, shape, "shard_and_stack");
  auto const d = resolve_axis(axis, of_one.size());
  Shape shape{std::ssize(shapes)};
  for (auto const extent : of_one) shape.push_back(extent);
  std::vector<SpecEntry> entries(shape.size(), none);
  std::vector<Cut> cuts(shape.size(), Cut::balanced());
  entries[d + 1] = axes;
  cuts[d + 1] = Cut::strict();
  return {NamedSharding(mesh, PartitionSpec(std::move(entries)), std::move(cuts)), shape};
}

}  // namespace tessera::detail
