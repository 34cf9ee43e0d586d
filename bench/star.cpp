// A star of nine cells, two of them on each side, in a plane: v becomes the Laplacian of u to the
// fourth order, and u changes by dt times v. As a plain loop of Tessera statements and as a
// recorded one, beside the same written by hand with MPI.
//
//   bench_star LABEL 2 CELLS STEPS PAIRS     prints a line of JSON for each form; see bench/run
//
// The forms are `plain`, a loop of two statements a step, and `iterate`, the same recorded. The raw
// version writes both arrays in one pass, u into a second buffer, and past the caches where the
// arrays are larger than these. It sends two rows to each neighbour and computes the inner rows
// while they travel. All have to end with the same bits.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "raw/slab.hpp"
#include "raw/streaming.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Field;
using bench::start_at;

namespace {

constexpr std::int64_t reach = 2;
constexpr double near = 4.0 / 3, far = 1.0 / 12, centre = 5, dt = 0.1;

/// What u and v become in a cell of a row.
struct StarCell {
  double const* row;
  std::int64_t pitch;

  template <class Load>
  auto operator()(Load load, std::int64_t j) const {
    auto const* const u = row + j;
    auto const v = near * (load(u - pitch) + load(u + pitch) + load(u - 1) + load(u + 1)) -
                   far * (load(u - 2 * pitch) + load(u + 2 * pitch) + load(u - 2) + load(u + 2)) -
                   centre * load(u);
    return std::array{load(u) + dt * v, v};
  }
};

/// By hand, the rows of this process. One block of memory has the three arrays, one behind the
/// other, each with two rows more before and behind.
class RawStar {
 public:
  explicit RawStar(std::int64_t n)
      : n_(n),
        first_(raw::begin_of(n, raw::process_count(), raw::own_rank())),
        past_(raw::begin_of(n, raw::process_count(), raw::own_rank() + 1)),
        pitch_(raw::whole_lines(n) + raw::line_doubles),
        array_((past_ - first_ + 2 * reach) * pitch_),
        memory_(raw::make_doubles(3 * array_)),
        u_(memory_.get() + reach * pitch_),
        next_(u_ + array_),
        v_(next_ + array_) {
    for (auto i = first_; i < past_; ++i)
      for (std::int64_t j = 0; j < n; ++j) row(u_, i)[j] = row(next_, i)[j] = start_at(i * n + j);
  }

  void step() {
    halo_.start(u_, past_ - first_, pitch_, {reach, reach});
    auto const lo = std::max(first_, reach), hi = std::min(past_, n_ - reach);
    auto const inner_lo = std::clamp(first_ + reach, lo, hi);
    auto const inner_hi = std::clamp(past_ - reach, inner_lo, hi);
    update_inner({inner_lo, inner_hi});
    halo_.wait();
    update({lo, inner_lo});
    update({inner_hi, hi});
    std::swap(u_, next_);
  }

  template <class Visit>
  void visit(Visit const& f) const {
    for (auto i = first_; i < past_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        f(0, i * n_ + j, row(u_, i)[j]);
        f(1, i * n_ + j, row(v_, i)[j]);
      }
    }
  }

 private:
  [[nodiscard]] double* row(double* array, std::int64_t i) const {
    return array + (i - first_) * pitch_;
  }

  /// The cells that change of row i of u and of v.
  [[nodiscard]] raw::Strip strip_of(std::int64_t i) const {
    return {row(next_, i), v_ - next_, reach, n_ - reach};
  }
  [[nodiscard]] StarCell cell_of(std::int64_t i) const { return {row(u_, i), pitch_}; }

  void update(raw::Span rows) {
    for (auto i = rows.lo; i < rows.hi; ++i) raw::store(strip_of(i), cell_of(i));
  }
  void update_inner(raw::Span rows) {
    if (!raw::outgrows_caches(3 * array_)) return update(rows);
    for (auto i = rows.lo; i < rows.hi; ++i) raw::stream(strip_of(i), cell_of(i));
    raw::end_streaming();
  }

  std::int64_t n_, first_, past_;
  std::int64_t pitch_;  // doubles from one row to the next
  std::int64_t array_;  // doubles from one array to the next
  raw::Doubles memory_;
  double* u_;
  double* next_;
  double* v_;
  raw::Halo halo_;
};

auto const inner = ts::range(2, -2);
auto const before = ts::range(1, -3), after = ts::range(3, -1);
auto const far_before = ts::range(0, -4), far_after = ts::from(4);

struct Star {
  Field<2> u, v;

  void step() {
    v(inner, inner) =
        near * (u(before, inner) + u(after, inner) + u(inner, before) + u(inner, after)) -
        far * (u(far_before, inner) + u(far_after, inner) + u(inner, far_before) +
               u(inner, far_after)) -
        centre * u(inner, inner);
    u(inner, inner) += dt * v(inner, inner);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(u), ts::hash(v)}; }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(RawStar const& raw) {
    return bench::raw_hashes(2, [&](auto const& visit) { raw.visit(visit); });
  }
};

int bench_star(Case const& what) {
  auto const n = what.cells;
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none));
  Star const start{
      ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); }),
      ts::zeros<double>({n, n}, rows)};
  RawStar raw(n);
  constexpr std::int64_t bytes_per_cell = 3 * sizeof(double);  // one read and written, one written
  return bench::compare(what, start, raw, bytes_per_cell * n * n);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? bench_star(*what) : 2;
}
