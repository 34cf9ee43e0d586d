#pragma once
/// @file
/// The one way of calling MPI.

#include <array>
#include <string_view>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/mpi/mpi.hpp"

namespace tessera::mpi {

/// Throws TransportError with MPI's own words if `code` is not success.
inline void check(int code, char const* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> words{};
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  throw TransportError(
      text(call, " failed: ", std::string_view(words.data(), static_cast<std::size_t>(length))));
}

}  // namespace tessera::mpi
