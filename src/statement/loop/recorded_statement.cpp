#include "src/statement/loop/recorded_statement.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

template <class T>
std::size_t place_of(std::vector<T> const& names, T const& one) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), one) - names.begin());
}

}  // namespace

std::string name_of(Statement const& statement) {
  if (!statement.location.known()) return text("the ", statement.kind, " of a whole array");
  return text("the ", statement.kind, " at ", statement.location);
}

std::size_t number_of(ArrayBindings const& bindings, std::shared_ptr<ArrayModel> const& array) {
  return place_of(bindings.arrays, array);
}
std::size_t number_of(ArrayBindings const& bindings, std::shared_ptr<ScalarModel> const& scalar) {
  return place_of(bindings.scalars, scalar);
}

}  // namespace tessera
