#include <algorithm>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"

#include "src/base/text.hpp"
#include "src/device/strided.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/index/region.hpp"
#include "src/runtime/over_processes.hpp"

namespace tessera::detail {
namespace {

// The same block of cells inside a dense piece.
StridedBlock block_in(RawPiece const& piece, Box const& cells, std::int64_t element_bytes) {
  auto const strides = row_major_strides(piece.box.extents());
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < cells.rank(); ++d) {
    block.extents.push_back(cells.extent(d));
    block.strides_bytes.push_back(strides[d] * element_bytes);
    block.offset_bytes += (cells.lo[d] - piece.box.lo[d]) * strides[d] * element_bytes;
  }
  return block;
}

StridedBlock block_in(RawShard const& shard, Box const& cells, std::int64_t element_bytes) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < cells.rank(); ++d) {
    block.extents.push_back(cells.extent(d));
    block.strides_bytes.push_back(shard.strides[d] * element_bytes);
    block.offset_bytes += (cells.lo[d] - shard.box.lo[d]) * shard.strides[d] * element_bytes;
  }
  return block;
}

std::string reason_against_piece(RawPiece const& piece, std::size_t rank) {
  if (piece.box.rank() != rank || piece.box.hi.size() != rank)
    return text("the piece ", piece.box, " has another number of dimensions than the array, ",
                rank);
  if (piece.count != piece.box.cells())
    return text("the piece ", piece.box, " has ", piece.box.cells(), " cells, but ", piece.count,
                " were passed");
  return {};
}

// Describes what is wrong with this process's pieces; empty if they are valid.
std::string reason_against_pieces(ArrayState& state, std::vector<RawPiece> const& pieces) {
  Region given;
  for (auto const& piece : pieces) {
    auto const reason = reason_against_piece(piece, state.layout()->rank());
    if (!reason.empty()) return reason;
    auto const before = given.cells();
    if (!piece.box.empty()) given.add(piece.box);
    if (given.cells() != before + piece.box.cells())
      return text("the piece ", piece.box, " overlaps another one");
  }
  auto outside = given;
  for (auto const& shard : state.shards()) {
    Region missing(shard.own);
    if (shard.own.empty()) continue;
    for (auto const& box : given.boxes()) missing.subtract(box);
    if (!missing.empty())
      return text("device ", shard.device, " holds ", shard.own, ", but no piece has the cells ",
                  missing.boxes().front());
    outside.subtract(shard.own);
  }
  if (!outside.empty())
    return text("a piece has the cells ", outside.boxes().front(),
                ", which no device of this process holds");
  return {};
}

}  // namespace

void take_from_pieces(StatePtr const& state, std::vector<RawPiece> const& pieces) {
  auto const reason = reason_against_pieces(storage_of(*state), pieces);
  std::byte wrong{static_cast<unsigned char>(reason.empty() ? 0 : 1)};
  or_over_processes({&wrong, 1}, {}, {"which makes an array of local pieces"});
  constexpr char const* remedy =
      "; each process passes the cells of its own devices, as sharding.boxes_of(device, shape) "
      "says, each once";
  if (!reason.empty()) throw ShapeError(text("from_local: ", reason, remedy));
  if (wrong != std::byte{0})
    throw ShapeError(text("from_local: the pieces of another process do not fit", remedy));

  auto const bytes = state->element_bytes();
  write_shards(state, [&](RawShard const& shard) {
    for (auto const& piece : pieces) {
      auto const cells = intersect(piece.box, shard.box);
      if (cells.empty()) continue;
      copy_block(shard.cells, block_in(shard, cells, bytes), piece.cells,
                 block_in(piece, cells, bytes));
    }
  });
}

void take_from_host(StatePtr const& state, std::byte const* cells) {
  auto const bytes = state->element_bytes();
  auto const box = whole(state->layout()->shape());
  RawPiece const all{box, cells, box.cells()};
  write_shards(state, [&](RawShard const& shard) {
    if (shard.box.empty()) return;
    copy_block(shard.cells, block_in(shard, shard.box, bytes), cells,
               block_in(all, shard.box, bytes));
  });
}

}  // namespace tessera::detail
