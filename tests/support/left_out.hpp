#pragma once
/// @file
/// Cases that need more than every run of the tests has.

#include <string>

#include <doctest/doctest.h>

namespace tessera::test {

/// Returns `is_left_out`; if it is true, the output says why the rest of the case is not run.
[[nodiscard]] inline bool left_out_if(bool is_left_out, char const* reason) {
  if (is_left_out) MESSAGE("left out: ", std::string(reason));
  return is_left_out;
}

}  // namespace tessera::test
