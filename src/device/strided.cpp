#include "src/device/strided.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tessera/detail/base/assert.hpp"

#include "src/index/index.hpp"

namespace tessera {
namespace {

// ---- Non-temporal stores: a line that is written whole need not be read before.

#if defined(__x86_64__)
std::byte* store_line(std::byte* to, std::byte const* from) {
  for (std::int64_t at = 0; at < line_bytes; at += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + at)));
  return to + line_bytes;
}

void copy_non_temporal(std::byte* to, std::byte const* from, std::int64_t bytes) {
  auto const past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
  auto const head = std::min(bytes, past == 0 ? 0 : line_bytes - past);
  std::memcpy(to, from, static_cast<std::size_t>(head));
  auto left = bytes - head;
  to += head;
  from += head;
  for (; left >= line_bytes; left -= line_bytes, from += line_bytes) to = store_line(to, from);
  std::memcpy(to, from, static_cast<std::size_t>(left));
}

/// Orders the non-temporal stores so far before all later stores, as seen by other threads.
void end_non_temporal_stores() {
  _mm_sfence();
}
#else
void copy_non_temporal(std::byte* to, std::byte const* from, std::int64_t bytes) {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

void end_non_temporal_stores() {}
#endif

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

// ---- Rows of a block.

std::int64_t row_length(StridedBlock const& block) {
  return block.extents.empty() ? 1 : block.extents.back();
}

std::int64_t row_stride(StridedBlock const& block) {
  return block.strides_bytes.empty() ? 0 : block.strides_bytes.back();
}

/// Walks the rows of a block: knows the place of element (i, ..., j, 0) and steps to the next row.
class RowWalk {
 public:
  RowWalk(StridedBlock const& block, std::int64_t row) : block_(block), place_(block.offset_bytes) {
    if (row == 0) return;
    for (std::size_t d = outer_dimensions(); d-- > 0;) {
      index_[d] = row % block_.extents[d];
      place_ += index_[d] * block_.strides_bytes[d];
      row /= block_.extents[d];
    }
  }

  [[nodiscard]] std::int64_t place() const { return place_; }

  /// From the last row, goes back to the first.
  void next() {
    for (std::size_t d = outer_dimensions(); d-- > 0;) {
      place_ += block_.strides_bytes[d];
      if (++index_[d] < block_.extents[d]) return;
      place_ -= block_.extents[d] * block_.strides_bytes[d];
      index_[d] = 0;
    }
  }

 private:
  [[nodiscard]] std::size_t outer_dimensions() const {
    return block_.extents.empty() ? 0 : block_.extents.size() - 1;
  }

  StridedBlock const& block_;
  std::int64_t place_;
  std::array<std::int64_t, 8> index_{};
};

// ---- Columns of rows.

/// True if rows run across lines, as in a transpose.
bool runs_across(StridedBlock const& block) {
  auto const rank = block.extents.size();
  if (rank < 2 || block.element_bytes >= line_bytes) return false;
  return runs_across_lines(block.strides_bytes[rank - 2], row_stride(block));
}

/// Calls visit(first, count) for the elements of a row, a line's width at a time. Rows that run
/// across are copied column by column, so that all rows use a line before it leaves the nearest
/// cache.
template <class Visit>
void for_each_column(StridedBlock const& block, bool is_across, Visit const& visit) {
  auto const length = row_length(block);
  auto const width = is_across ? line_bytes / block.element_bytes : length;
  for (std::int64_t first = 0; first < length; first += width)
    visit(first, std::min(width, length - first));
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
  bool const is_across = runs_across(from) || runs_across(to);
  for_each_column(to, is_across, [&](std::int64_t first, std::int64_t count) {
    RowWalk to_row(to, 0);
    RowWalk from_row(from, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      copy({to_base + to_row.place() + first * row_stride(to), row_stride(to)},
           {from_base + from_row.place() + first * row_stride(from), row_stride(from)}, count,
           to.element_bytes);
      to_row.next();
      from_row.next();
    }
  });
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

/// Packs whole rows that run across.
void pack_columns(std::byte const* base, StridedBlock const& block, std::int64_t first_row,
                  std::int64_t rows, std::byte* to) {
  auto const element = block.element_bytes;
  auto const row_bytes = row_length(block) * element;
  for_each_column(block, true, [&](std::int64_t first, std::int64_t count) {
    RowWalk row(block, first_row);
    for (std::int64_t r = 0; r < rows; ++r) {
      copy_runs({to + r * row_bytes + first * element, element},
                {base + row.place() + first * row_stride(block), row_stride(block)}, count,
                element);
      row.next();
    }
  });
}

/// Calls `copy(target, origin, count, bytes)` for each row of the part of the stream in `from`.
template <class Copy>
std::int64_t unpack_rows(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                         std::span<std::byte const> from, Copy const& copy) {
  auto const count = available(stream_bytes(block), first_byte, from.size());
  if (count == 0) return 0;
  auto const* next = from.data();
  for_each_piece(block, first_byte, first_byte + count, [&](Piece const& piece) {
    copy({base + piece.place, piece.stride}, {next, piece.bytes}, piece.count, piece.bytes);
    next += piece.count * piece.bytes;
  });
  return count;
}

}  // namespace

void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                StridedBlock const& from) {
  copy_rows(to_base, to, from_base, from, copy_runs);
}

void copy_block_non_temporal(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                             StridedBlock const& from) {
  if (to.element_bytes < least_non_temporal) return copy_block(to_base, to, from_base, from);
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
  auto const row_bytes = row_length(block) * block.element_bytes;
  auto const first_row = ceil_div(first_byte, row_bytes);
  auto const rows = (first_byte + count) / row_bytes - first_row;
  if (rows < 2 || !runs_across(block)) {
    pack_pieces(base, block, first_byte, count, to.data());
    return count;
  }
  auto const before = first_row * row_bytes - first_byte;  // of a row that an earlier call began
  auto const whole = rows * row_bytes;
  pack_pieces(base, block, first_byte, before, to.data());
  pack_columns(base, block, first_row, rows, to.data() + before);
  pack_pieces(base, block, first_byte + before + whole, count - before - whole,
              to.data() + before + whole);
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
