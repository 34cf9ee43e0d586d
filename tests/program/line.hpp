#pragma once
/// @file
/// A line of cells over all devices, and a step of the heat equation on it.

#include <cstdint>

#include "tessera/tessera.hpp"

namespace tessera::test {

/// Cut over all devices.
[[nodiscard]] inline NamedSharding pieces() {
  return {Mesh({{"x", device_count()}}), P("x")};
}

/// The cells 0, 1, 2, …
[[nodiscard]] inline DistArray<double, 1> line(std::int64_t cells) {
  return iota<double>({cells}, pieces());
}

inline void heat(DistArray<double, 1>& u) {
  u(range(1, -1)) = 0.8 * u(range(1, -1)) + 0.1 * u(range(0, -2)) + 0.1 * u(from(2));
}

}  // namespace tessera::test
