#include "src/device/strided.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/detail/base/assert.hpp"

#include "src/device/non_temporal.hpp"
#include "src/device/row_walk.hpp"
#include "src/device/transposed_copy.hpp"
#include "src/index/index.hpp"

namespace tessera {
namespace {

// ---- Rows of runs: `count` runs of `bytes` bytes each, a fixed stride apart on either side.

/// One side of a row of runs.
template <class Byte>
struct Side {
  Byte* at;
  std::int64_t stride;
};
using Target = Side<std::byte>;
using Origin = Side<std::byte const>;

/// Copies runs whose length the compiler knows: a load and a store each.
template <std::size_t Bytes>
void copy_fixed_runs(Target to, Origin from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to.at + i * to.stride, from.at + i * from.stride, Bytes);
}

void copy_long_runs(Target to, Origin from, std::int64_t count, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to.at + i * to.stride, from.at + i * from.stride, static_cast<std::size_t>(bytes));
}

/// Shorter runs go through the caches, because most of their lines are written only in part.
constexpr std::int64_t least_non_temporal = 1024;

void copy_runs_non_temporal(Target to, Origin from, std::int64_t count, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count; ++i)
    copy_non_temporal(to.at + i * to.stride, from.at + i * from.stride, bytes);
}

void copy_runs(Target to, Origin from, std::int64_t count, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_fixed_runs<1>(to, from, count);
    case 2:
      return copy_fixed_runs<2>(to, from, count);
    case 4:
      return copy_fixed_runs<4>(to, from, count);
    case 8:
      return copy_fixed_runs<8>(to, from, count);
    case 12:
      return copy_fixed_runs<12>(to, from, count);
    case 16:
      return copy_fixed_runs<16>(to, from, count);
    case 24:
      return copy_fixed_runs<24>(to, from, count);
    case 32:
      return copy_fixed_runs<32>(to, from, count);
    default:
      return copy_long_runs(to, from, count, bytes);
  }
}

/// Copies a few bytes without a call where they are as many as a number has.
void copy_bytes(std::byte* to, std::byte const* from, std::int64_t bytes) {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes > 0) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

// ---- Pieces of a stream.

/// Part of a stream that lies in one row: `count` runs of `bytes` bytes.
struct Piece {
  std::int64_t place;   ///< of the first byte, relative to the base
  std::int64_t stride;  ///< from run to run in the block
  std::int64_t count;
  std::int64_t bytes;
};

/// Calls `visit(piece)` for bytes [first, last) of the block's stream, in order. The stream is not
/// empty and holds them.
template <class Visit>
void for_each_piece(StridedBlock const& block, std::int64_t first, std::int64_t last,
                    Visit const& visit) {
  auto const element = block.element_bytes;
  auto const length = row_length(block);
  auto const stride = row_stride(block);
  auto const first_element = first / element;
  auto column = first_element % length;
  RowWalk row(block, first_element / length);
  auto skipped = first % element;  // of an element that an earlier piece of the stream began

  for (auto left = last - first; left > 0;) {
    auto const place = row.place() + column * stride;
    auto const whole = skipped == 0 ? std::min(length - column, left / element) : 0;
    if (whole > 0) {
      visit(Piece{place, stride, whole, element});
      left -= whole * element;
      column += whole;
    } else {
      auto const part = std::min(element - skipped, left);
      visit(Piece{place + skipped, 0, 1, part});
      left -= part;
      skipped = 0;
      ++column;
    }
    if (column == length) {
      column = 0;
      row.next();
    }
  }
}

/// How many bytes there are of `wanted` from `first` on.
std::int64_t available(std::int64_t total_bytes, std::int64_t first, std::size_t wanted) {
  auto const left = std::max<std::int64_t>(0, total_bytes - first);
  return std::min(left, static_cast<std::int64_t>(wanted));
}

// ---- Copies of rows.

/// Calls `copy(target, origin, count, bytes)` for each row.
template <class Copy>
void copy_rows(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
               StridedBlock const& from, Copy const& copy) {
  TESSERA_ASSERT(to.extents == from.extents && to.element_bytes == from.element_bytes, to, " from ",
                 from);
  if (stream_bytes(to) == 0) return;
  auto const rows = stream_bytes(to) / (row_length(to) * to.element_bytes);
  RowWalk to_row(to, 0);
  RowWalk from_row(from, 0);
  for (std::int64_t row = 0; row < rows; ++row) {
    copy({to_base + to_row.place(), row_stride(to)},
         {from_base + from_row.place(), row_stride(from)}, row_length(to), to.element_bytes);
    to_row.next();
    from_row.next();
  }
}

/// Packs bytes [first_byte, first_byte + count) of the block's stream.
void pack_pieces(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                 std::int64_t count, std::byte* to) {
  if (count == 0) return;
  for_each_piece(block, first_byte, first_byte + count, [&](Piece const& piece) {
    copy_runs({to, piece.bytes}, {base + piece.place, piece.stride}, piece.count, piece.bytes);
    to += piece.count * piece.bytes;
  });
}

/// The reverse; calls `copy(target, origin, count, bytes)` for each row.
template <class Copy>
void unpack_pieces(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                   std::int64_t count, std::byte const* from, Copy const& copy) {
  if (count == 0) return;
  for_each_piece(block, first_byte, first_byte + count, [&](Piece const& piece) {
    copy({base + piece.place, piece.stride}, {from, piece.bytes}, piece.count, piece.bytes);
    from += piece.count * piece.bytes;
  });
}

// ---- Streams of blocks whose elements lie side by side along another dimension than the last.

StridedBlock dense_block(StridedBlock const& block) {
  auto dense = block;
  dense.offset_bytes = 0;
  auto stride = block.element_bytes;
  for (std::size_t d = block.extents.size(); d-- > 0; stride *= block.extents[d])
    dense.strides_bytes[d] = stride;
  return dense;
}

/// The largest box that begins with a row of the block and contains at most `rows` rows in the
/// order of the stream. The block has two dimensions at least.
StridedBlock box_of_rows(StridedBlock const& block, std::int64_t row, std::int64_t rows) {
  auto const& extents = block.extents;
  // The box has the dimensions from `inner` on whole, with `step` rows, and some of the one before.
  auto inner = extents.size() - 1;
  std::int64_t step = 1;
  while (inner > 1 && row % (step * extents[inner - 1]) == 0 && step * extents[inner - 1] <= rows)
    step *= extents[--inner];
  auto const moving = inner - 1;
  auto const at = row / step % extents[moving];
  StridedBlock box;
  box.element_bytes = block.element_bytes;
  box.offset_bytes = RowWalk(block, row).place();
  for (auto d = moving; d < extents.size(); ++d) {
    box.extents.push_back(d == moving ? std::min(extents[d] - at, rows / step) : extents[d]);
    box.strides_bytes.push_back(block.strides_bytes[d]);
  }
  return box;
}

/// Bytes [first, first + count) of a block's stream, to be moved in boxes of whole rows where that
/// transposes, else row by row.
class StreamPart {
 public:
  StreamPart(StridedBlock const& block, std::int64_t first, std::int64_t count)
      : block_(block), first_(first), count_(count) {
    if (!transposes(block)) return;
    row_bytes_ = row_length(block) * block.element_bytes;
    auto const row = ceil_div(first, row_bytes_);
    rows_ = std::max<std::int64_t>((first + count) / row_bytes_ - row, 0);
  }

  /// Calls pieces(first, count, at) for bytes [first, first + count) of the stream, which begin
  /// `at` bytes behind the first one, and boxes(block, at).
  template <class Pieces, class Boxes>
  void visit(Pieces const& pieces, Boxes const& boxes) const {
    if (rows_ == 0) return pieces(first_, count_, 0);
    auto row = ceil_div(first_, row_bytes_);
    auto at = row * row_bytes_ - first_;  // the end of a row that an earlier part began
    pieces(first_, at, 0);
    for (auto const end = row + rows_; row < end;) {
      auto const box = box_of_rows(block_, row, end - row);
      boxes(box, at);
      at += stream_bytes(box);
      row += stream_bytes(box) / row_bytes_;
    }
    pieces(first_ + at, count_ - at, at);
  }

 private:
  // Most streams need only the first comparison.
  static bool transposes(StridedBlock const& block) {
    return dense_dimension(block) + 1 < block.extents.size() &&
           is_transposing(dense_block(block), block);
  }

  StridedBlock const& block_;
  std::int64_t first_, count_;
  std::int64_t row_bytes_ = 0;
  std::int64_t rows_ = 0;  // whole ones
};

/// Calls `copy(target, origin, count, bytes)` for each row of the part of the stream in `from`.
template <class Copy>
std::int64_t unpack_rows(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                         std::span<std::byte const> from, Copy const& copy) {
  auto const count = available(stream_bytes(block), first_byte, from.size());
  if (count == 0) return 0;
  StreamPart(block, first_byte, count)
      .visit(
          [&](std::int64_t first, std::int64_t bytes, std::int64_t at) {
            unpack_pieces(base, block, first, bytes, from.data() + at, copy);
          },
          [&](StridedBlock const& box, std::int64_t at) {
            copy_block(base, box, from.data() + at, dense_block(box));
          });
  return count;
}

}  // namespace

void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                StridedBlock const& from) {
  if (is_transposing(to, from)) return copy_transposed(to_base, to, from_base, from);
  copy_rows(to_base, to, from_base, from, copy_runs);
}

void copy_block_non_temporal(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                             StridedBlock const& from) {
  if (is_transposing(to, from)) return copy_transposed_non_temporal(to_base, to, from_base, from);
  if (to.element_bytes < least_non_temporal)
    return copy_rows(to_base, to, from_base, from, copy_runs);
  copy_rows(to_base, to, from_base, from, copy_runs_non_temporal);
  end_non_temporal_stores();
}

std::int64_t pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                  std::span<std::byte> to) {
  if (block.extents.empty()) {  // the one halo cell or run of a 1-D stencil
    auto const count = available(block.element_bytes, first_byte, to.size());
    copy_bytes(to.data(), base + block.offset_bytes + first_byte, count);
    return count;
  }
  auto const count = available(stream_bytes(block), first_byte, to.size());
  if (count == 0) return 0;
  StreamPart(block, first_byte, count)
      .visit([&](std::int64_t first, std::int64_t bytes,
                 std::int64_t at) { pack_pieces(base, block, first, bytes, to.data() + at); },
             [&](StridedBlock const& box, std::int64_t at) {
               copy_block(to.data() + at, dense_block(box), base, box);
             });
  return count;
}

std::int64_t unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                    std::span<std::byte const> from) {
  if (block.extents.empty()) {
    auto const count = available(block.element_bytes, first_byte, from.size());
    copy_bytes(base + block.offset_bytes + first_byte, from.data(), count);
    return count;
  }
  return unpack_rows(base, block, first_byte, from, copy_runs);
}

std::int64_t unpack_non_temporal(std::byte* base, StridedBlock const& block,
                                 std::int64_t first_byte, std::span<std::byte const> from) {
  if (block.element_bytes < least_non_temporal) return unpack(base, block, first_byte, from);
  auto const count = unpack_rows(base, block, first_byte, from, copy_runs_non_temporal);
  end_non_temporal_stores();
  return count;
}

}  // namespace tessera
