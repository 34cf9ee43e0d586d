#include "tessera/base/assert.hpp"

#include <cstdlib>

#include "tessera/base/log.hpp"

namespace tessera::detail {

void assertion_failed(char const* condition, char const* file, int line,
                      std::string const& values) {
  log_error(text("broken promise at ", file, ':', line, ": ", condition,
                 values.empty() ? "" : " with ", values));
  std::abort();
}

}  // namespace tessera::detail
