#include "tessera/detail/base/assert.hpp"

#include <cstdlib>

#include "src/base/log.hpp"
#include "src/base/text.hpp"

namespace tessera::detail {

void assertion_failed(char const* condition, char const* file, int line,
                      std::string const& values) {
  log_error(text("broken invariant at ", file, ':', line, ": ", condition,
                 values.empty() ? "" : " with ", values));
  std::abort();
}

}  // namespace tessera::detail
