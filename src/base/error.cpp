#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

thread_local std::string last_text;

}  // namespace

Error::Error(std::string const& what) : std::runtime_error(what) {
  last_text = what;
}

std::string const& last_error_text() {
  return last_text;
}

BackendNotBuilt::BackendNotBuilt(std::string_view backend, std::string_view option)
    : Error(text(backend, " is not part of this build; configure with -D", option, "=ON")) {}

}  // namespace tessera
