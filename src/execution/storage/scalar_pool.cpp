#include "src/execution/storage/scalar_pool.hpp"

#include <algorithm>

namespace tessera {

std::shared_ptr<ScalarState> ScalarPool::make(std::uint64_t number) {
  for (auto const& scalar : scalars_)
    if (scalar.use_count() == 1) {
      scalar->set_number(number);
      return scalar;
    }
  auto made = std::make_shared<ScalarState>(local_devices_, number);
  if (scalars_.size() < most_kept) scalars_.push_back(made);
  return made;
}

bool ScalarPool::holds(std::shared_ptr<ScalarState> const& scalar) const {
  return std::find(scalars_.begin(), scalars_.end(), scalar) != scalars_.end();
}

}  // namespace tessera
