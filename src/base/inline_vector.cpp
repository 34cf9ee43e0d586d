#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

namespace tessera::detail {

void refuse_long_list(std::size_t items, std::size_t capacity) {
  throw UsageError(text("a list of ", items, " items where at most ", capacity,
                        " fit; arrays and meshes have at most 8 dimensions"));
}

}  // namespace tessera::detail
