#pragma once
/// @file
/// The heat equation in a block, by hand: MPI with two buffers, the inner planes computed while the
/// outermost ones travel.

#include <algorithm>
#include <array>
#include <utility>

#include "raw/aligned.hpp"
#include "raw/cut.hpp"
#include "raw/row_exchange.hpp"
#include "raw/streaming.hpp"

namespace raw {

/// What a cell of a row becomes.
struct Heat3dCell {
  double stay, pass;
  double const* row;
  std::int64_t pitch, plane_pitch;  ///< doubles from one row, and from one plane, to the next

  template <class Load>
  auto operator()(Load load, std::int64_t k) const {
    auto const* const now = row + k;
    return stay * load(now) + pass * load(now - plane_pitch) + pass * load(now + plane_pitch) +
           pass * load(now - pitch) + pass * load(now + pitch) + pass * load(now - 1) +
           pass * load(now + 1);
  }
};

/// The planes of this process; the faces of the block stay what they are.
class Heat3d {
 public:
  Heat3d(std::array<std::int64_t, 3> cells, double stay, double pass)
      : stay_(stay),
        pass_(pass),
        cells_(cells),
        planes_(cells[0], process_count(), own_rank(), false),
        exchange_(planes_, false),
        pitch_(whole_lines(cells[2]) + line_doubles),
        plane_pitch_((cells[1] + 1) * pitch_) {
    for (auto* memory : {&memory_, &next_memory_})
      *memory = make_doubles((planes_.count + 2) * plane_pitch_);
    now_ = memory_.get() + plane_pitch_;  // a plane before and one behind
    next_ = next_memory_.get() + plane_pitch_;
  }

  template <class F>
  void fill(F const& f) {
    for (std::int64_t i = 0; i < planes_.count; ++i)
      for (std::int64_t j = 0; j < cells_[1]; ++j)
        for (std::int64_t k = 0; k < cells_[2]; ++k)
          now_[offset(i, j) + k] = next_[offset(i, j) + k] = f(planes_.first + i, j, k);
  }

  void step() {
    if (planes_.count == 0) return;
    exchange_.start(now_, plane_pitch_, cells_[1] * pitch_);
    update({planes_.inner_lo(), planes_.inner_hi()});
    exchange_.wait();
    update({planes_.lo, planes_.inner_lo()});
    update({planes_.inner_hi(), planes_.hi});
    std::swap(now_, next_);
  }

  /// The first dimension; the others are whole.
  [[nodiscard]] Cut const& planes() const { return planes_; }
  [[nodiscard]] std::array<std::int64_t, 3> const& cells() const { return cells_; }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return now_[offset(i, j) + k];
  }

 private:
  /// Of the first cell of a row.
  [[nodiscard]] std::int64_t offset(std::int64_t i, std::int64_t j) const {
    return i * plane_pitch_ + j * pitch_;
  }

  // One row at a time: two would read from eight, more than processors prefetch. Nor is writing
  // past the caches faster here: rows are short.
  void update(Span planes) {
    for (auto i = planes.lo; i < planes.hi; ++i)
      for (std::int64_t j = 1; j < cells_[1] - 1; ++j)
        store(strip_at(offset(i, j)), cells_at(offset(i, j)));
  }

  [[nodiscard]] Strip strip_at(std::int64_t row) const {
    return {next_ + row, pitch_, 1, cells_[2] - 1};
  }

  [[nodiscard]] Together<Heat3dCell, 1> cells_at(std::int64_t row) const {
    return {{Heat3dCell{stay_, pass_, now_ + row, pitch_, plane_pitch_}}};
  }

  double stay_, pass_;
  std::array<std::int64_t, 3> cells_;
  Cut planes_;
  RowExchange exchange_;
  std::int64_t pitch_;        // doubles from one row to the next
  std::int64_t plane_pitch_;  // from one plane to the next; a row more, so that planes do not share
                              // cache sets
  Doubles memory_, next_memory_;
  double* now_;
  double* next_;
};

}  // namespace raw
