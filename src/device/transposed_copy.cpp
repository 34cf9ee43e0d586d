#include "src/device/transposed_copy.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tessera/detail/base/assert.hpp"

#include "src/device/non_temporal.hpp"
#include "src/device/row_walk.hpp"

namespace tessera {
namespace {

// Two dimensions of a copy: along a row, elements lie side by side in the target; along a column,
// in the origin.
struct Plane {
  std::int64_t rows;
  std::int64_t row_length;
  std::int64_t to_step;    // from row to row of the target, in bytes
  std::int64_t from_step;  // from element to element of a row, in the origin
};

// Stores a line through the caches, wherever it begins.
struct StoreInCaches {
  static constexpr bool begins_lines = false;
  void operator()(std::byte* to, std::byte const* from) const {
    std::memcpy(to, from, static_cast<std::size_t>(line_bytes));
  }
};

struct StorePastCaches {
  static constexpr bool begins_lines = true;
  void operator()(std::byte* to, std::byte const* from) const { store_line(to, from); }
};

template <std::size_t Bytes, class Store>
class PlaneCopy {
 public:
  explicit PlaneCopy(Plane const& plane) : plane_(plane) {}

  void operator()(std::byte* to, std::byte const* from) const {
    auto const head = elements_before_line(to);
    auto const lines = (plane_.row_length - head) / side;
    auto const whole_rows = plane_.rows / side * side;
    if (!Store::begins_lines || rows_begin_lines(to + head * size))
      copy_tiles(to, from, {head, head + lines * side}, Store());
    else
      copy_tiles(to, from, {head, head + lines * side}, StoreInCaches());
    copy_elements(to, from, {0, plane_.rows}, {0, head});
    copy_elements(to, from, {0, plane_.rows}, {head + lines * side, plane_.row_length});
    copy_elements(to, from, {whole_rows, plane_.rows}, {head, head + lines * side});
  }

 private:
  static constexpr auto size = static_cast<std::int64_t>(Bytes);
  static constexpr std::int64_t side = line_bytes / size;  // of a tile, in elements

  struct Range {
    std::int64_t first, last;
  };

  [[nodiscard]] std::int64_t elements_before_line(std::byte const* to) const {
    auto const past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
    return std::min(plane_.row_length, past == 0 ? 0 : (line_bytes - past) / size);
  }

  [[nodiscard]] bool rows_begin_lines(std::byte const* first_row) const {
    return begins_line(first_row) && plane_.to_step % line_bytes == 0;
  }

  // All whole tiles of these columns, those below each other one after the other.
  template <class Write>
  void copy_tiles(std::byte* to, std::byte const* from, Range columns, Write const& write) const {
    for (auto i = columns.first; i < columns.last; i += side)
      for (std::int64_t row = 0; row + side <= plane_.rows; row += side)
        copy_tile(to + row * plane_.to_step + i * size, from + i * plane_.from_step + row * size,
                  write);
  }

  template <class Write>
  void copy_tile(std::byte* to, std::byte const* from, Write const& write) const {
    alignas(line_bytes) std::byte lines[static_cast<std::size_t>(side * line_bytes)];
    for (std::int64_t i = 0; i < side; ++i)
      for (std::int64_t row = 0; row < side; ++row)
        std::memcpy(lines + row * line_bytes + i * size, from + i * plane_.from_step + row * size,
                    Bytes);
    for (std::int64_t row = 0; row < side; ++row)
      write(to + row * plane_.to_step, lines + row * line_bytes);
  }

  void copy_elements(std::byte* to, std::byte const* from, Range rows, Range columns) const {
    for (auto row = rows.first; row < rows.last; ++row)
      for (auto i = columns.first; i < columns.last; ++i)
        std::memcpy(to + row * plane_.to_step + i * size, from + i * plane_.from_step + row * size,
                    Bytes);
  }

  Plane plane_;
};

// The block without two of its dimensions; a last one of one element takes their place, so that
// each row of it is a plane.
StridedBlock without(StridedBlock const& block, std::size_t a, std::size_t b) {
  StridedBlock planes;
  for (std::size_t d = 0; d < block.extents.size(); ++d) {
    if (d == a || d == b) continue;
    planes.extents.push_back(block.extents[d]);
    planes.strides_bytes.push_back(block.strides_bytes[d]);
  }
  planes.extents.push_back(1);
  planes.strides_bytes.push_back(0);
  planes.offset_bytes = block.offset_bytes;
  planes.element_bytes = block.element_bytes;
  return planes;
}

template <std::size_t Bytes, class Store>
void copy_planes(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                 StridedBlock const& from) {
  auto const along_row = dense_dimension(to), along_column = dense_dimension(from);
  PlaneCopy<Bytes, Store> const copy(Plane{.rows = from.extents[along_column],
                                           .row_length = to.extents[along_row],
                                           .to_step = to.strides_bytes[along_column],
                                           .from_step = from.strides_bytes[along_row]});
  auto const to_planes = without(to, along_row, along_column);
  auto const from_planes = without(from, along_row, along_column);
  RowWalk to_plane(to_planes, 0), from_plane(from_planes, 0);
  auto const planes = stream_bytes(to_planes) / to_planes.element_bytes;
  for (std::int64_t i = 0; i < planes; ++i) {
    copy(to_base + to_plane.place(), from_base + from_plane.place());
    to_plane.next();
    from_plane.next();
  }
}

template <class Store>
void copy_in_tiles(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                   StridedBlock const& from) {
  TESSERA_ASSERT(to.extents == from.extents && to.element_bytes == from.element_bytes, to, " from ",
                 from);
  switch (to.element_bytes) {
    case 1:
      return copy_planes<1, Store>(to_base, to, from_base, from);
    case 2:
      return copy_planes<2, Store>(to_base, to, from_base, from);
    case 4:
      return copy_planes<4, Store>(to_base, to, from_base, from);
    case 8:
      return copy_planes<8, Store>(to_base, to, from_base, from);
    case 16:
      return copy_planes<16, Store>(to_base, to, from_base, from);
    default:
      TESSERA_ASSERT(false, to);
  }
}

}  // namespace

void copy_transposed(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                     StridedBlock const& from) {
  copy_in_tiles<StoreInCaches>(to_base, to, from_base, from);
}

void copy_transposed_non_temporal(std::byte* to_base, StridedBlock const& to,
                                  std::byte const* from_base, StridedBlock const& from) {
  copy_in_tiles<StorePastCaches>(to_base, to, from_base, from);
  end_non_temporal_stores();
}

}  // namespace tessera
