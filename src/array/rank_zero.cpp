#include "tessera/array/rank_zero.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

NamedSharding sharding_of_cell(NamedSharding const& sharding) {
  auto const& spec = sharding.spec();
  if (spec.rank() != 0 || spec.is_partial())
    throw ShardingError(text("an array without dimensions cannot have the spec ", spec,
                             "; its one cell is on every device of the mesh: pass P()"));
  return {sharding.mesh(), P(none)};
}

}  // namespace tessera::detail
