#include "tessera/detail/array/erased/handle.hpp"

#include "src/network/network.hpp"
#include "src/runtime/engine.hpp"

namespace tessera::detail {

void compare_numbers(StatePtr const& state, char const* kind,
                     std::function<void(NumberVisitor&)> const& pass) {
  if (engine().network().compares_numbers()) engine().compare_numbers(kind, *state, pass);
}

}  // namespace tessera::detail
