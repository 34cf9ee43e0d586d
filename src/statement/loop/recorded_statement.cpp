#include "src/statement/loop/recorded_statement.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

std::string name_of(Statement const& statement) {
  if (!statement.place.known()) return text("the ", statement.kind, " of a whole array");
  return text("the ", statement.kind, " at ", statement.place);
}

std::size_t number_of(Names const& names, std::shared_ptr<ArrayModel> const& array) {
  return static_cast<std::size_t>(std::find(names.arrays.begin(), names.arrays.end(), array) -
                                  names.arrays.begin());
}

}  // namespace tessera
