#include "stream_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tessera/device/strided.hpp"

namespace tessera {
namespace {

constexpr std::int64_t line_bytes = 64;
// Half of the nearest cache: the other half is for what is read.
constexpr std::int64_t piece_bytes = 16 * 1024;

// A call of one piece of a row.
class Piece {
 public:
  explicit Piece(RowStore const& store)
      : store_(store), call_(*store.call), rank_(extents().size()) {
    one_row_ = Index(rank_, 1);
    call_.first = &first_;
    call_.extents = &one_row_;
    call_.leaves = leaves_.data();
    call_.target = staging_;
  }

  void compute_row(std::int64_t row) {
    auto const at = place_of(row);
    auto* to =
        store_.call->target + offset(at, *store_.call->target_strides) * store_.element_bytes;
    for (std::int64_t done = 0; done < extents().back();) {
      auto const cells = std::min(cells_from(to), extents().back() - done);
      compute(at, done, cells);
      store_past_caches(to, staging_, cells * store_.element_bytes);
      to += cells * store_.element_bytes;
      done += cells;
    }
  }

 private:
  [[nodiscard]] Index const& extents() const { return *store_.call->extents; }

  // As many as end where a line of the target does.
  [[nodiscard]] std::int64_t cells_from(std::byte const* to) const {
    auto const past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) % line_bytes);
    return (piece_bytes - past) / store_.element_bytes;
  }

  [[nodiscard]] Index place_of(std::int64_t row) const {
    Index at(rank_, 0);
    for (std::size_t d = rank_ - 1; d-- > 0;) {
      at[d] = row % extents()[d];
      row /= extents()[d];
    }
    return at;
  }

  static std::int64_t offset(Index const& at, Index const& strides) {
    std::int64_t elements = 0;
    for (std::size_t d = 0; d + 1 < at.size(); ++d) elements += at[d] * strides[d];
    return elements;
  }

  void compute(Index const& at, std::int64_t done, std::int64_t cells) {
    first_ = at;
    for (std::size_t d = 0; d < rank_; ++d) first_[d] += (*store_.call->first)[d];
    first_.back() += done;
    one_row_.back() = cells;
    for (std::size_t l = 0; l < static_cast<std::size_t>(store_.leaves); ++l) {
      auto const& leaf = store_.call->leaves[l];
      auto const elements = offset(at, *leaf.strides) + done * leaf.strides->back();
      leaves_[l] = {leaf.first + elements * store_.leaf_bytes[l], leaf.strides};
    }
    store_.kernel(&call_, 0, 1);
  }

  RowStore const& store_;
  KernelCall call_;
  std::size_t rank_;
  Index first_;
  Index one_row_;
  std::array<LeafView, max_leaves> leaves_;
  alignas(line_bytes) std::byte staging_[piece_bytes];
};

}  // namespace

bool can_stream(std::int64_t element_bytes) {
  return line_bytes % element_bytes == 0;
}

void stream_rows(RowStore const& store, std::int64_t first_row, std::int64_t last_row) {
  Piece piece(store);
  for (auto row = first_row; row < last_row; ++row) piece.compute_row(row);
  end_stores_past_caches();
}

}  // namespace tessera
