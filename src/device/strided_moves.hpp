#pragma once
/// @file
/// Copies of strided blocks as threads of a GPU make them: numbered moves of a few bytes.

#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"

#include "src/device/strided.hpp"

namespace tessera {

/// Moves [first, first + count) of a block of moves, in row-major order. Each moves `move_bytes`
/// contiguous bytes. Neighbouring moves are neighbours in memory wherever the blocks' elements are.
/// Trivially copyable: it is an argument of a kernel.
struct GpuMoves {
  static constexpr int max_dimensions = 9;  ///< of a block, and the moves inside an element

  std::byte* to = nullptr;  ///< of move 0, which need not be among them
  std::byte const* from = nullptr;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t move_bytes = 1;  ///< 1, 2, 4, 8 or 16, at multiples of it on both sides
  int dimensions = 0;
  std::int64_t extents[max_dimensions] = {};
  std::int64_t to_strides[max_dimensions] = {};  ///< in bytes
  std::int64_t from_strides[max_dimensions] = {};
};

/// The distance of move `number` from move 0 on both sides, in bytes. `Number` is the type used for
/// divisions: 32 bits are several times as fast on a GPU, and enough for blocks of fewer than 2^31
/// moves.
struct MoveOffsets {
  std::int64_t to;
  std::int64_t from;
};
template <class Number>
[[nodiscard]] TESSERA_FUNCTION MoveOffsets offsets_of(GpuMoves const& moves, Number number) {
  MoveOffsets offsets{0, 0};
  for (int d = moves.dimensions - 1; d > 0; --d) {
    auto const extent = static_cast<Number>(moves.extents[d]);
    auto const rest = static_cast<Number>(number / extent);
    auto const at = static_cast<std::int64_t>(number - rest * extent);
    offsets.to += at * moves.to_strides[d];
    offsets.from += at * moves.from_strides[d];
    number = rest;
  }
  offsets.to += static_cast<std::int64_t>(number) * moves.to_strides[0];
  offsets.from += static_cast<std::int64_t>(number) * moves.from_strides[0];
  return offsets;
}

// Plans: arithmetic alone, of the same meaning as the functions of strided.hpp.

[[nodiscard]] GpuMoves plan_copy(std::byte* to_base, StridedBlock const& to,
                                 std::byte const* from_base, StridedBlock const& from);
/// `first_byte` and `size_bytes` are multiples of the block's element_bytes.
[[nodiscard]] GpuMoves plan_pack(std::byte const* base, StridedBlock const& block,
                                 std::int64_t first_byte, std::byte* to, std::int64_t size_bytes);
[[nodiscard]] GpuMoves plan_unpack(std::byte* base, StridedBlock const& block,
                                   std::int64_t first_byte, std::byte const* from,
                                   std::int64_t size_bytes);

}  // namespace tessera
