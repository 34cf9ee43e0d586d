#include "src/base/checks.hpp"

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"

namespace tessera {

Checks Checks::from_environment() {
  Checks checks;
  bool none = false;
  for (auto const& word :
       environment_words("TESSERA_CHECK", {"communication", "numbers", "recording", "none"})) {
    checks.numbers = checks.numbers || word == "numbers";
    checks.communication = checks.communication || checks.numbers || word == "communication";
    none = none || word == "none";
    checks.recording = checks.recording || word == "recording";
  }
  if (none && (checks.communication || checks.recording))
    throw ConfigError(
        "TESSERA_CHECK: 'none' cannot be combined with other words; name the checks, or none");
  return checks;
}

}  // namespace tessera
