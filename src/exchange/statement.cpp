#include "tessera/exchange/statement.hpp"

#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera {

void Statement::clear() {
  for (auto& leaf : leaves) leaf.array.reset();
  leaves.clear();
  for (auto& scalar : scalars) scalar.reset();
  scalars.clear();
  target.reset();
  result.reset();
  work.layout.reset();
  kernel_bytes = 0;
  hash_of_numbers = nullptr;
  uses_step = false;
  step = 0;
  copies = false;
  is_transfer = false;
  folds = false;
  writes_slabs = false;
}

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

std::size_t Statement::add_scalar(std::shared_ptr<ScalarState> const& scalar) {
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i] == scalar) return i;
  if (scalars.size() == max_scalars)
    throw UsageError(text("one statement reads more than ", max_scalars,
                          " different scalars; split it into several"));
  scalars.push_back(scalar);
  return scalars.size() - 1;
}

}  // namespace tessera
