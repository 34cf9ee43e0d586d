#include "tessera/detail/array/erased/handle.hpp"

#include "src/network/network.hpp"
#include "src/runtime/engine.hpp"

namespace tessera::detail {

bool compares_numbers() {
  return engine().network().compares_numbers();
}

void compare_numbers(StatePtr const& state, char const* kind,
                     std::function<void(NumberVisitor&)> const& pass) {
  engine().compare_numbers(kind, *state, pass);
}

}  // namespace tessera::detail
