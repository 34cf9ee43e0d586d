#pragma once
/// @file
/// Two substances that react and spread in a plane without ends, by hand: MPI with two buffers, the
/// inner rows computed while the outermost ones travel.
///
/// A row of u and the same row of v lie side by side, so that one message carries both as they are:
///
///     u u u u … . v v v v … .
///     |<------- pitch ------>|

#include <algorithm>
#include <array>
#include <utility>

#include "raw/aligned.hpp"
#include "raw/cut.hpp"
#include "raw/row_exchange.hpp"
#include "raw/streaming.hpp"

namespace raw {

struct GrayScottRates {
  double spread_u, spread_v;
  double feed, kill;
};

/// What a cell of both substances becomes in a row; left and right say how far away its neighbours
/// are.
struct GrayScottCell {
  GrayScottRates rates;
  double const* u;
  double const* v;
  std::int64_t pitch;
  std::int64_t left = -1, right = 1;

  template <class Load>
  auto operator()(Load load, std::int64_t j) const {
    auto const [spread_u, spread_v, feed, kill] = rates;
    auto const a = load(u + j), b = load(v + j);
    auto const reaction = a * b * b;
    return std::array{a + (spread_u * spread(load, u + j) - reaction + feed * (1.0 - a)),
                      b + (spread_v * spread(load, v + j) + reaction - (feed + kill) * b)};
  }

 private:
  template <class Load>
  auto spread(Load load, double const* at) const {
    return load(at - pitch) + load(at + pitch) + load(at + left) + load(at + right) -
           4.0 * load(at);
  }
};

/// The rows of this process.
class GrayScott2d {
 public:
  GrayScott2d(std::array<std::int64_t, 2> cells, GrayScottRates const& rates)
      : rates_(rates),
        width_(cells[1]),
        rows_(cells[0], process_count(), own_rank(), true),
        exchange_(rows_, true),
        v_(whole_lines(width_) + line_doubles),
        pitch_(2 * v_),
        is_large_(outgrows_caches(2 * rows_.count * pitch_)) {
    for (auto* memory : {&memory_, &next_memory_})
      *memory = make_doubles((rows_.count + 2) * pitch_);
    now_ = memory_.get() + pitch_;  // a row above and one below
    next_ = next_memory_.get() + pitch_;
  }

  template <class U, class V>
  void fill(U const& u, V const& v) {
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      for (std::int64_t j = 0; j < width_; ++j) {
        now_[i * pitch_ + j] = u(rows_.first + i, j);
        now_[i * pitch_ + v_ + j] = v(rows_.first + i, j);
      }
    }
  }

  void step() {
    if (rows_.count == 0) return;
    exchange_.start(now_, pitch_, v_ + width_);
    update_inner();
    exchange_.wait();
    update({rows_.lo, rows_.inner_lo()});
    update({rows_.inner_hi(), rows_.hi});
    std::swap(now_, next_);
  }

  [[nodiscard]] Cut const& rows() const { return rows_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] double u(std::int64_t i, std::int64_t j) const { return now_[i * pitch_ + j]; }
  [[nodiscard]] double v(std::int64_t i, std::int64_t j) const { return now_[i * pitch_ + v_ + j]; }

 private:
  /// Cells [lo, hi) of both rows.
  [[nodiscard]] Strip strip_of(std::int64_t row, std::int64_t lo, std::int64_t hi) const {
    return {next_ + row * pitch_, v_, lo, hi};
  }

  [[nodiscard]] GrayScottCell cell_of(std::int64_t row) const {
    auto const* const u = now_ + row * pitch_;
    return {rates_, u, u + v_, pitch_};
  }

  void update_inner() {
    Span const rows{rows_.inner_lo(), rows_.inner_hi()};
    if (!is_large_) return update(rows);
    for (auto i = rows.lo; i < rows.hi; ++i) {
      stream(strip_of(i, 1, width_ - 1), cell_of(i));
      update_ends(i);
    }
    end_streaming();
  }

  void update(Span rows) {
    for (auto i = rows.lo; i < rows.hi; ++i) {
      store(strip_of(i, 1, width_ - 1), cell_of(i));
      update_ends(i);
    }
  }

  /// The two cells of a row that are neighbours round the edge.
  void update_ends(std::int64_t row) {
    auto const last = width_ - 1;
    auto cell = cell_of(row);
    cell.left = last;
    cell.right = std::min<std::int64_t>(1, last);
    store(strip_of(row, 0, 1), cell);
    cell.left = -1;
    cell.right = -last;
    store(strip_of(row, std::max<std::int64_t>(last, 1), width_), cell);
  }

  GrayScottRates rates_;
  std::int64_t width_;
  Cut rows_;
  RowExchange exchange_;
  std::int64_t v_;      // doubles from a cell of u to the same one of v
  std::int64_t pitch_;  // doubles from one row to the next
  bool is_large_;
  Doubles memory_, next_memory_;
  double* now_;
  double* next_;
};

}  // namespace raw
