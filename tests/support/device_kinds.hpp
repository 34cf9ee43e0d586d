#pragma once
/// @file
/// For tests of what only devices of one kind can do.

#include <string>

#include <doctest/doctest.h>

#include "tessera/base/environment.hpp"

namespace tessera::test {

/// A test case that is left out where devices are GPUs: it touches cells by their addresses, or
/// reaches them from another process.
inline doctest::skip host_only() {
  return doctest::skip(environment("TESSERA_DEVICE").value_or("host") != "host");
}

/// One that is left out everywhere else.
inline doctest::skip emulated_only() {
  return doctest::skip(environment("TESSERA_DEVICE").value_or("host") != "emulated");
}

}  // namespace tessera::test
