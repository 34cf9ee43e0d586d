#pragma once
/// @file
/// For tests of what only devices of one kind can do.

#include <string>

#include <doctest/doctest.h>

#include "src/base/environment.hpp"

namespace tessera::test {

/// True where devices are GPUs by CUDA, whose functions as sin have other last bits than the
/// host's.
inline bool on_cuda() {
  return environment("TESSERA_DEVICE") == "cuda";
}

/// A test case that is left out on these: its values are those of the host's functions, or its
/// kernels the host's alone.
inline doctest::skip not_on_cuda() {
  return doctest::skip(on_cuda());
}

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
