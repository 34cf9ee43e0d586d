#pragma once
/// @file
/// Test hook: bugs that a build of its own (TESSERA_PLANT=ON) can switch on, one at a time, to show
/// that the tests find them. In every other build they are not there.

#include <string_view>

namespace tessera {

#ifdef TESSERA_PLANT
/// True if the environment variable TESSERA_PLANTED names this bug.
[[nodiscard]] bool planted(std::string_view bug);
#else
/// False: this build has no such bugs.
[[nodiscard]] constexpr bool planted(std::string_view) {
  return false;
}
#endif

}  // namespace tessera
