#pragma once
/// @file
/// The wave equation in a plane, by hand: MPI, the inner rows computed while the outermost ones
/// travel. A step overwrites the state before, so that its lines are read in any case.

#include <algorithm>
#include <array>
#include <utility>

#include "raw/aligned.hpp"
#include "raw/cut.hpp"
#include "raw/row_exchange.hpp"
#include "raw/streaming.hpp"

namespace raw {

/// What a cell of a row becomes.
struct Wave2dCell {
  double c;
  double const* row;
  double const* row_before;
  std::int64_t pitch;  ///< doubles from one row to the next

  template <class Load>
  auto operator()(Load load, std::int64_t j) const {
    auto const* const now = row + j;
    return 2.0 * load(now) - load(row_before + j) +
           c * (load(now - pitch) + load(now + pitch) + load(now - 1) + load(now + 1) -
                4.0 * load(now));
  }
};

/// The rows of this process; the edges of the plane stay what they are.
class Wave2d {
 public:
  /// `c` is the square of the way that a wave takes in a step, in cells.
  Wave2d(std::array<std::int64_t, 2> cells, double c)
      : c_(c),
        width_(cells[1]),
        rows_(cells[0], process_count(), own_rank(), false),
        exchange_(rows_, false),
        pitch_(whole_lines(width_) + 2 * line_doubles) {
    for (auto* memory : {&memory_, &memory_before_})
      *memory = make_doubles((rows_.count + 2) * pitch_);
    now_ = memory_.get() + pitch_;  // a row above and one below
    before_ = memory_before_.get() + pitch_;
  }

  /// Both states, so that nothing moves at first.
  template <class F>
  void fill(F const& f) {
    for (std::int64_t i = 0; i < rows_.count; ++i)
      for (std::int64_t j = 0; j < width_; ++j)
        now_[i * pitch_ + j] = before_[i * pitch_ + j] = f(rows_.first + i, j);
  }

  void step() {
    if (rows_.count == 0) return;
    exchange_.start(now_, pitch_, width_);
    update({rows_.inner_lo(), rows_.inner_hi()});
    exchange_.wait();
    update({rows_.lo, rows_.inner_lo()});
    update({rows_.inner_hi(), rows_.hi});
    std::swap(now_, before_);
  }

  [[nodiscard]] Cut const& rows() const { return rows_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const {
    return now_[i * pitch_ + j];
  }
  [[nodiscard]] double before(std::int64_t i, std::int64_t j) const {
    return before_[i * pitch_ + j];
  }

 private:
  void update(Span rows) {
    store_rows(rows, {before_, pitch_, 1, width_ - 1}, [this](std::int64_t row) {
      return Wave2dCell{c_, now_ + row * pitch_, before_ + row * pitch_, pitch_};
    });
  }

  double c_;
  std::int64_t width_;
  Cut rows_;
  RowExchange exchange_;
  std::int64_t pitch_;  // doubles from one row to the next
  Doubles memory_, memory_before_;
  double* now_;
  double* before_;
};

}  // namespace raw
