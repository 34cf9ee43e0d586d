#pragma once
/// @file
/// Memory that a program has used before: what is not set by a later call has these bytes.

namespace tessera::test {

/// Leaves these bytes on the stack, where the next calls have their variables and arguments.
[[gnu::noinline]] inline void dirty_stack(int dirt) {
  unsigned char volatile bytes[16384];
  for (auto& byte : bytes) byte = static_cast<unsigned char>(dirt);
}

}  // namespace tessera::test
