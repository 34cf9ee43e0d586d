#include "src/layout/placement.hpp"

#include "tessera/base/error.hpp"

namespace tessera {

PlacedDimensions placed_dimensions(NamedSharding const& sharding) {
  PlacedDimensions dimensions;
  for (std::size_t d = 0; d < sharding.rank(); ++d)
    dimensions.push_back({sharding.spec()[d], sharding.cut(d)});
  return dimensions;
}

NamedSharding sharding_of(Mesh const& mesh, PlacedDimensions const& dimensions) {
  std::vector<SpecEntry> entries;
  std::vector<Cut> cuts;
  for (auto const& dimension : dimensions) {
    entries.push_back(dimension.axes);
    cuts.push_back(dimension.cut);
  }
  return {mesh, PartitionSpec(entries), cuts};
}

bool fits_every_extent(Cut const& cut) {
  return !cut.lists_cells() && cut.kind() != Cut::Kind::strict;
}

bool fits(Cut const& cut, std::int64_t extent, std::int64_t ways) {
  if (fits_every_extent(cut)) return true;
  try {
    cut.check(extent, ways);
  } catch (ShardingError const&) {
    return false;
  }
  return true;
}

PlacedDimension placed_like(Layout const& layout, std::size_t d, std::int64_t extent,
                            AxisNames const& used) {
  auto const& all = layout.sharding().spec()[d].axes();
  auto const& cut = layout.sharding().cut(d);
  auto const axes = without(all, used);
  bool const is_same = axes == all && extent == layout.shape()[d];
  return {SpecEntry(axes), is_same || fits_every_extent(cut) ? cut : Cut::balanced()};
}

}  // namespace tessera
