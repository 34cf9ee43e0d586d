#pragma once
/// @file
/// Whether the tests are built with a sanitizer of memory or of threads.

namespace tessera::test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace tessera::test
