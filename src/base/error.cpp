#include "tessera/base/error.hpp"

#include "src/base/host_room.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

thread_local std::weak_ptr<std::string const> last_words;

}  // namespace

Error::Error(std::string const& what)
    : std::runtime_error(what), words_(std::make_shared<std::string const>(what)) {
  last_words = words_;
}

std::string last_error_text() {
  auto const words = last_words.lock();
  return words ? *words : std::string();
}

BackendNotBuilt::BackendNotBuilt(std::string_view backend, std::string_view option)
    : Error(text(backend, " is not part of this build; configure with -D", option, "=ON")) {}

void throw_without_room(std::int64_t count, std::size_t bytes_each, std::string_view what) {
  throw Error(text("this process cannot have the memory for ", what, ": ", count, " times ",
                   counted(static_cast<std::int64_t>(bytes_each), "byte"), "; ask for less"));
}

}  // namespace tessera
