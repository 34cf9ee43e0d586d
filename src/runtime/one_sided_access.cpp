#include "src/runtime/one_sided_access.hpp"

#include "src/runtime/engine.hpp"

namespace tessera::detail {

OneSided& one_sided() {
  return engine().one_sided();
}

}  // namespace tessera::detail
