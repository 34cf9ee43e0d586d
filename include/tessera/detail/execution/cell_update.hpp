#pragma once
/// @file
/// Changes of one cell by one process, as templates hand them to the library.

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera {

struct OneSidedRequest;

namespace detail {

/// What atomics compute with. A complex number is two real ones.
enum class NumberKind : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,   // float16
  brain,  // bfloat16
  float32,
  float64,
  complex64,
  complex128,
};

/// An atomic change of one cell.
struct CellUpdate {
  enum class What : std::uint8_t { add, compare_exchange };
  What what = What::add;
  NumberKind kind = NumberKind::int64;
  std::array<std::byte, 16> operand{};   ///< the value to add, or the replacement of `expected`
  std::array<std::byte, 16> expected{};  ///< of compare_exchange, compared bit by bit
};

}  // namespace detail
}  // namespace tessera
