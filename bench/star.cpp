// A star of nine cells, two of them on each side, in a plane: v becomes the Laplacian of u to the
// fourth order, and u changes by dt times v. As a plain loop of Tessera statements and as a
// recorded one, beside the same written by hand with MPI.
//
//   bench_star LABEL 2 CELLS STEPS PAIRS     prints a line of JSON for each form; see bench/run
//
// The forms are `plain`, a loop of two statements a step, and `iterate`, the same recorded. The raw
// version goes through memory once a step: it computes two rows of v at a time, and changes those
// of u that no later row of v reads. It sends two rows to each neighbour, and computes the inner
// rows while they travel. A second raw version, which the lines `plain/loops` and `iterate/loops`
// compare with, has two loops a step as one writes them down: over all rows of v, then over all
// rows of u, with the same messages. All have to end with the same bits.
#include <algorithm>
#include <cstdint>
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

/// What a cell of a row of v becomes.
struct StarCell {
  double const* row;
  std::int64_t pitch;

  template <class Load>
  auto operator()(Load load, std::int64_t j) const {
    auto const* const u = row + j;
    return near * (load(u - pitch) + load(u + pitch) + load(u - 1) + load(u + 1)) -
           far * (load(u - 2 * pitch) + load(u + 2 * pitch) + load(u - 2) + load(u + 2)) -
           centre * load(u);
  }
};

/// By hand, the rows of this process.
class RawStar {
 public:
  explicit RawStar(std::int64_t n)
      : n_(n),
        first_(raw::begin_of(n, raw::process_count(), raw::own_rank())),
        past_(raw::begin_of(n, raw::process_count(), raw::own_rank() + 1)),
        pitch_(raw::whole_lines(n) + raw::line_doubles),
        u_(first_, past_, pitch_, {reach, reach}),
        v_(first_, past_, pitch_, {0, 0}) {
    for (auto i = first_; i < past_; ++i)
      for (std::int64_t j = 0; j < n; ++j) u_.row(i)[j] = start_at(i * n + j);
  }

  void step() {
    auto const lo = std::max(first_, reach), hi = std::min(past_, n_ - reach);
    auto const early_lo = std::clamp(first_ + reach, lo, hi);
    auto const early_hi = std::clamp(past_ - reach, early_lo, hi);
    u_.start({reach, reach});
    auto done_lo = std::min(early_lo + reach, hi), done_hi = done_lo;
    for (auto i = early_lo; i < early_hi; i += 2) {
      auto const next = std::min(i + 2, early_hi);
      update_v({i, next});
      update_u({done_hi, next - reach});
      done_hi = std::max(done_hi, next - reach);
    }
    u_.wait();
    update_v({lo, early_lo});
    update_v({early_hi, hi});
    update_u({lo, done_lo});
    update_u({done_hi, hi});
  }

  /// The same in two loops over all rows.
  void step_in_loops() {
    auto const lo = std::max(first_, reach), hi = std::min(past_, n_ - reach);
    auto const early_lo = std::clamp(first_ + reach, lo, hi);
    auto const early_hi = std::clamp(past_ - reach, early_lo, hi);
    u_.start({reach, reach});
    loop_over_v({early_lo, early_hi});
    u_.wait();
    loop_over_v({lo, early_lo});
    loop_over_v({early_hi, hi});
    update_u({lo, hi});
  }

  template <class Visit>
  void visit(Visit const& f) const {
    raw::for_values(u_, past_, n_, [&](auto cell, double x) { f(0, cell, x); });
    raw::for_values(v_, past_, n_, [&](auto cell, double x) { f(1, cell, x); });
  }

 private:
  void update_v(raw::Span rows) {
    raw::store_rows({rows.lo - first_, rows.hi - first_},
                    {v_.row(first_), pitch_, reach, n_ - reach}, [this](std::int64_t i) {
                      return StarCell{u_.row(first_ + i), pitch_};
                    });
  }
  void loop_over_v(raw::Span rows) {
    for (auto i = rows.lo; i < rows.hi; ++i)
      raw::for_cells(reach, n_ - reach,
                     [cell = StarCell{u_.row(i), pitch_}, v = v_.row(i)](auto j) {
                       v[j] = cell([](double const* u) { return *u; }, j);
                     });
  }
  void update_u(raw::Span rows) {
    for (auto i = rows.lo; i < rows.hi; ++i)
      raw::for_cells(reach, n_ - reach,
                     [u = u_.row(i), v = v_.row(i)](auto j) { u[j] += dt * v[j]; });
  }

  std::int64_t n_, first_, past_;
  std::int64_t pitch_;  // doubles from one row to the next
  raw::Slab u_, v_;
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
  RawStar raw(n), loops(n);
  constexpr std::int64_t bytes_per_cell = 3 * sizeof(double);  // one read and written, one written
  return bench::compare(what, start, raw, bytes_per_cell * n * n,
                        {.step_in_loops = [&] { loops.step_in_loops(); },
                         .hashes_in_loops = [&] { return Star::hashes_of(loops); }});
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? bench_star(*what) : 2;
}
