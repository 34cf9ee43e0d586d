#include "tessera/base/planted.hpp"

#ifdef TESSERA_PLANT

#include "tessera/base/environment.hpp"

namespace tessera {

bool planted(std::string_view bug) {
  static auto const chosen = environment("TESSERA_PLANTED").value_or("");
  return chosen == bug;
}

}  // namespace tessera

#endif
