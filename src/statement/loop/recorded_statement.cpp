#include "src/statement/loop/recorded_statement.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

std::string name_of(Statement const& statement) {
  if (!statement.location.known()) return text("the ", statement.kind, " of a whole array");
  return text("the ", statement.kind, " at ", statement.location);
}

std::size_t number_of(ArrayBindings const& bindings, std::shared_ptr<ArrayModel> const& array) {
  return static_cast<std::size_t>(std::find(bindings.arrays.begin(), bindings.arrays.end(), array) -
                                  bindings.arrays.begin());
}

}  // namespace tessera
