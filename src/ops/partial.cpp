#include "tessera/ops/partial.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/layout/placement.hpp"

namespace tessera::detail {

NamedSharding sharding_of_sum(NamedSharding const& partials, Shape const& shape, ReduceOp op) {
  auto const& entries = partials.spec().entries();
  if (entries[0].axes().empty() || shape[0] != partials.ways(0) ||
      partials.shard_shape(shape)[0] != 1)
    throw ShardingError(
        text("dimension 0 of an array of shape ", shape, " on ", partials,
             " counts no partial results: it must be cut by mesh axes, with one cell for "
             "each place along them; such arrays have P(\"y\", ...) and the size of "
             "\"y\" there"));
  std::vector<SpecEntry> rest(entries.begin() + 1, entries.end());
  std::vector<Cut> cuts;
  for (std::size_t d = 1; d < entries.size(); ++d) cuts.push_back(partials.cut(d));
  return {partials.mesh(), PartitionSpec(std::move(rest)).partial(entries[0], op), cuts};
}

NamedSharding with_partials_first(NamedSharding const& sharding, SpecEntry const& axes) {
  if (axes.axes().empty())
    throw ShardingError(text("no mesh axis is named for partial results of an array on ", sharding,
                             "; name one that does not cut it"));
  auto dimensions = placed_dimensions(sharding);
  dimensions.insert(dimensions.begin(), {axes});
  return sharding_of(sharding.mesh(), dimensions);
}

NamedSharding sharding_to_add_up(Layout const& partials, Layout const& to,
                                 std::int64_t cell_bytes) {
  auto const& names = partials.sharding().spec()[0].axes();
  bool const may_spread = partials.mesh() == to.mesh() &&
                          std::none_of(names.begin(), names.end(), [&](std::string const& axis) {
                            return is_cut_by(to.sharding().spec(), axis);
                          });
  if (!may_spread) return to.sharding();
  return spread_out(to, partials, cell_bytes);
}

}  // namespace tessera::detail
