#include "tessera/array/print.hpp"

#include <algorithm>

#include "src/device/strided.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/job/job.hpp"
#include "src/runtime/current_runtime.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t most_shown = 8;
constexpr std::int64_t shown_end = 3;

bool is_long(std::int64_t extent) {
  return extent > most_shown;
}

// The one or two runs of a dimension that are shown.
std::vector<Piece> runs_of(std::int64_t extent) {
  if (!is_long(extent)) return {{0, extent}};
  return {{0, shown_end}, {extent - shown_end, extent}};
}

// Reads one block of runs into its place among the cells shown.
void read_block(StatePtr const& state, AffineMap const& map, Box const& indices, Index const& place,
                Shown& into) {
  auto const bytes = state->element_bytes();
  std::vector<std::byte> cells(static_cast<std::size_t>(indices.cells() * bytes));
  read_to_host(state, map, indices, cells.data(), {});
  auto const strides = row_major_strides(into.shown);
  auto const dense = row_major_strides(indices.extents());
  BlockPair pair;
  pair.to.element_bytes = pair.from.element_bytes = bytes;
  for (std::size_t d = 0; d < place.size(); ++d) {
    pair.to.offset_bytes += place[d] * strides[d] * bytes;
    pair.to.extents.push_back(indices.extent(d));
    pair.from.extents.push_back(indices.extent(d));
    pair.to.strides_bytes.push_back(strides[d] * bytes);
    pair.from.strides_bytes.push_back(dense[d] * bytes);
  }
  copy_block(into.bytes.data(), pair.to, cells.data(), pair.from);
}

// Visits every combination of one run per dimension.
void read_blocks(StatePtr const& state, AffineMap const& map, Box& indices, Index& place,
                 Shown& into) {
  auto const d = indices.rank();
  if (d == into.shape.size()) {
    read_block(state, map, indices, place, into);
    return;
  }
  std::int64_t at = 0;
  for (auto const& run : runs_of(into.shape[d])) {
    Box longer = indices;
    longer.lo.push_back(run.lo);
    longer.hi.push_back(run.hi);
    Index deeper = place;
    deeper.push_back(at);
    read_blocks(state, map, longer, deeper, into);
    at += run.size();
  }
}

// Between two cells a blank, between two rows a new line under the brackets that are open.
void separate(std::ostream& out, std::size_t d, std::size_t rank) {
  if (d + 1 == rank)
    out << ' ';
  else
    out << '\n' << std::string(d + 1, ' ');
}

}  // namespace

Shown read_shown(StatePtr const& state, AffineMap const& map, Shape const& shape) {
  Shown result{shape, {}, {}};
  for (auto const extent : shape) result.shown.push_back(is_long(extent) ? 2 * shown_end : extent);
  result.bytes.resize(static_cast<std::size_t>(cells_of(result.shown) * state->element_bytes()));
  Box none;
  Index start;
  if (!result.bytes.empty()) read_blocks(state, map, none, start, result);
  return result;
}

void write_brackets(std::ostream& out, Shown const& shown,
                    std::function<void(std::ostream&, std::size_t)> const& write) {
  std::size_t next = 0;
  auto const rank = shown.shape.size();
  std::function<void(std::size_t)> const level = [&](std::size_t d) {
    if (d == rank) {
      write(out, next++);
      return;
    }
    out << '[';
    for (std::int64_t i = 0; i < shown.shown[d]; ++i) {
      if (i != 0) separate(out, d, rank);
      if (i == shown_end && is_long(shown.shape[d])) {
        out << "...";
        separate(out, d, rank);
      }
      level(d + 1);
    }
    out << ']';
  };
  level(0);
}

bool is_printer() {
  return job().self() == ProcessId{0};
}

}  // namespace tessera::detail
