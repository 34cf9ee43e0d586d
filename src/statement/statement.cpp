#include "src/statement/statement.hpp"

#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/statement/kernel.hpp"

namespace tessera::detail {

std::size_t Statement::add_leaf(LeafRequest leaf) {
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaf.constants_offset < 0 && leaves[i].constants_offset < 0 &&
        leaves[i].array == leaf.array && leaves[i].access == leaf.access)
      return i;
  if (leaves.size() == max_leaves)
    throw UsageError(text("one statement reads more than ", max_leaves,
                          " different slices; split it into several"));
  leaves.push_back(std::move(leaf));
  return leaves.size() - 1;
}

std::size_t Statement::add_scalar(ScalarPtr const& scalar) {
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i] == scalar) return i;
  if (scalars.size() == max_scalars)
    throw UsageError(text("one statement reads more than ", max_scalars,
                          " different scalars; split it into several"));
  scalars.push_back(scalar);
  return scalars.size() - 1;
}

}  // namespace tessera::detail
