#include "src/device/strided_moves.hpp"

#include <algorithm>

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

// The block's stream as a block of its own.
StridedBlock dense(StridedBlock const& block) {
  StridedBlock result;
  result.extents = block.extents;
  result.element_bytes = block.element_bytes;
  result.strides_bytes.resize(block.extents.size());
  auto bytes = block.element_bytes;
  for (std::size_t d = block.extents.size(); d-- > 0; bytes *= block.extents[d])
    result.strides_bytes[d] = bytes;
  return result;
}

// Collects the alignment of addresses: an address is aligned if all numbers that it is computed
// from are.
class Alignment {
 public:
  void include(std::int64_t value) { bits_ |= static_cast<std::uint64_t>(value); }
  void include(std::byte const* address) { bits_ |= reinterpret_cast<std::uintptr_t>(address); }
  void include(StridedBlock const& block) {
    include(block.offset_bytes);
    include(block.element_bytes);
    for (auto const stride : block.strides_bytes) include(stride);
  }
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>((bits_ | widest) & (~(bits_ | widest) + 1));
  }

 private:
  static constexpr std::uint64_t widest = 16;
  std::uint64_t bits_ = 0;
};

struct Range {
  std::int64_t first_byte;
  std::int64_t size_bytes;
};

GpuMoves plan(std::byte* to_base, std::byte const* from_base, BlockPair const& given,
              Range const& range) {
  GpuMoves moves;
  auto const pair = normalized(given);
  Alignment alignment;
  alignment.include(to_base);
  alignment.include(from_base);
  alignment.include(pair.to);
  alignment.include(pair.from);
  alignment.include(range.first_byte);
  alignment.include(range.size_bytes);
  auto const bytes = alignment.bytes();
  moves.move_bytes = bytes;
  moves.first = range.first_byte / bytes;
  moves.count = range.size_bytes / bytes;
  moves.to = to_base + pair.to.offset_bytes;
  moves.from = from_base + pair.from.offset_bytes;
  for (std::size_t d = 0; d < pair.to.extents.size(); ++d) {
    moves.extents[d] = pair.to.extents[d];
    moves.to_strides[d] = pair.to.strides_bytes[d];
    moves.from_strides[d] = pair.from.strides_bytes[d];
  }
  moves.dimensions = static_cast<int>(pair.to.extents.size());
  auto const per_element = pair.to.element_bytes / bytes;
  if (per_element > 1 || moves.dimensions == 0) {
    moves.extents[moves.dimensions] = per_element;
    moves.to_strides[moves.dimensions] = bytes;
    moves.from_strides[moves.dimensions] = bytes;
    ++moves.dimensions;
  }
  return moves;
}

// The existing part of a range of the block's stream.
Range checked(StridedBlock const& block, std::int64_t first_byte, std::int64_t size_bytes) {
  TESSERA_ASSERT(first_byte % block.element_bytes == 0 && size_bytes % block.element_bytes == 0,
                 "bytes ", first_byte, " to ", first_byte + size_bytes, " of elements of ",
                 block.element_bytes, " bytes");
  return {first_byte, std::min(size_bytes, stream_bytes(block) - first_byte)};
}

// Where a block's stream would begin whose byte `first_byte` lies at `memory`: a number, since
// there may be nothing there.
std::uintptr_t begin_of_stream(std::byte const* memory, std::int64_t first_byte) {
  return reinterpret_cast<std::uintptr_t>(memory) - static_cast<std::uintptr_t>(first_byte);
}

}  // namespace

GpuMoves plan_copy(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                   StridedBlock const& from) {
  return plan(to_base, from_base, {to, from}, {0, stream_bytes(from)});
}

GpuMoves plan_pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                   std::byte* to, std::int64_t size_bytes) {
  auto* const begin = reinterpret_cast<std::byte*>(begin_of_stream(to, first_byte));
  return plan(begin, base, {dense(block), block}, checked(block, first_byte, size_bytes));
}

GpuMoves plan_unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                     std::byte const* from, std::int64_t size_bytes) {
  auto const* const begin = reinterpret_cast<std::byte const*>(begin_of_stream(from, first_byte));
  return plan(base, begin, {block, dense(block)}, checked(block, first_byte, size_bytes));
}

}  // namespace tessera
