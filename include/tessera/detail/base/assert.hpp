#pragma once
/// @file
/// Checks of Tessera's own invariants. A caller's mistake is never reported here: it throws.

#include <string>

#include "tessera/detail/base/text.hpp"

namespace tessera::detail {

/// Prints the broken promise with its place and this process, and aborts.
[[noreturn]] void assertion_failed(char const* condition, char const* file, int line,
                                   std::string const& values);

}  // namespace tessera::detail

/// Aborts with the values given unless `condition` holds: TESSERA_ASSERT(a < b, a, ' ', b).
#define TESSERA_ASSERT(condition, ...)                                       \
  (static_cast<bool>(condition)                                              \
       ? static_cast<void>(0)                                                \
       : ::tessera::detail::assertion_failed(#condition, __FILE__, __LINE__, \
                                             ::tessera::detail::text(__VA_ARGS__)))
