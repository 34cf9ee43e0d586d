// A step that ends with a value of all cells, in a plane. A plain loop of Tessera statements and a
// recorded one, beside the same written by hand with MPI.
//
//   bench_residual LABEL 2 CELLS STEPS PAIRS     prints a line of JSON for each form; see bench/run
//
// Labels begin with
//
//   adaptive   a front that travels by its own height; the next step in time depends on the largest
//              height, so each step needs the value of the step before
//   jacobi     a mean of four neighbours, and the sum of squares of what changed
//
// The forms are `plain`, a loop of two statements a step, and `iterate`, the same recorded. The raw
// version goes through memory once a step: each row is computed, and adds to the value what it has
// just written. It sends a row to each neighbour, and computes the inner rows while they travel.
// All have to end with the same cells to the bit; a sum by hand depends on its order, and is not
// compared.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"
#include "raw/slab.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Field;
using bench::start_at;

namespace {

constexpr double rate = 0.1;

/// By hand, the rows of this process: two planes that change places.
///
/// Rule::cell(row, pitch, j, value) is the new cell, Rule::add(value, before, after) adds it to the
/// value, and Rule::operation combines the values of processes.
template <class Rule>
class RawPlane {
 public:
  explicit RawPlane(std::int64_t n)
      : n_(n),
        first_(raw::begin_of(n, raw::process_count(), raw::own_rank())),
        past_(raw::begin_of(n, raw::process_count(), raw::own_rank() + 1)),
        pitch_(raw::whole_lines(n) + raw::line_doubles),
        now_(first_, past_, pitch_, {1, 1}),
        next_(first_, past_, pitch_, {1, 1}) {
    for (auto* const plane : {&now_, &next_})
      for (auto i = first_; i < past_; ++i)
        for (std::int64_t j = 0; j < n; ++j) plane->row(i)[j] = start_at(i * n + j);
    value_ = Rule::start;
  }

  void step() {
    auto const lo = std::max<std::int64_t>(first_, 1), hi = std::min(past_, n_ - 1);
    now_.start({1, 1});
    double value = 0;
    for (auto i = first_ + 1; i < past_ - 1; ++i) value = update(i, value);
    now_.wait();
    if (lo == first_) value = update(first_, value);
    if (hi == past_ && past_ - 1 > first_) value = update(past_ - 1, value);
    MPI_Allreduce(&value, &value_, 1, MPI_DOUBLE, Rule::operation(), MPI_COMM_WORLD);
    std::swap(now_, next_);
  }

  template <class Visit>
  void visit(Visit const& f) const {
    raw::for_values(now_, past_, n_, [&](auto cell, double x) { f(0, cell, x); });
  }

 private:
  // In lanes, as the compiler would not do for a sum by itself.
  double update(std::int64_t i, double value) {
    auto const* const now = now_.row(i);
    auto* const next = next_.row(i);
    auto const pitch = pitch_;
    auto const known = value_;
    constexpr std::int64_t lanes = 16;
    double lane[lanes];
    std::fill_n(lane, lanes, 0.0);
    std::int64_t j = 1;
    for (; j + lanes <= n_ - 1; j += lanes)
#pragma GCC ivdep
      for (std::int64_t l = 0; l < lanes; ++l) {
        next[j + l] = Rule::cell(now + j + l, pitch, known);
        lane[l] = Rule::add(lane[l], now[j + l], next[j + l]);
      }
    for (; j < n_ - 1; ++j) {
      next[j] = Rule::cell(now + j, pitch, known);
      value = Rule::add(value, now[j], next[j]);
    }
    for (auto const one : lane) value = Rule::merge(value, one);
    return value;
  }

  std::int64_t n_, first_, past_;
  std::int64_t pitch_;  // doubles from one row to the next
  raw::Slab now_, next_;
  double value_ = 0;
};

struct AdaptiveRule {
  static constexpr double start = 1;
  static double cell(double const* u, std::int64_t pitch, double known) {
    auto const slope = (u[0] - u[-pitch]) + (u[0] - u[-1]);
    return u[0] - rate / known * u[0] * slope;
  }
  static double add(double value, double, double after) {
    auto const height = std::abs(after);
    return height > value ? height : value;
  }
  static double merge(double value, double other) { return std::max(value, other); }
  static MPI_Op operation() { return MPI_MAX; }
};

struct JacobiRule {
  static constexpr double start = 0;
  static double cell(double const* u, std::int64_t pitch, double) {
    return 0.25 * (u[-pitch] + u[pitch] + u[-1] + u[1]);
  }
  static double add(double value, double before, double after) {
    return value + (after - before) * (after - before);
  }
  static double merge(double value, double other) { return value + other; }
  static MPI_Op operation() { return MPI_SUM; }
};

auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);

template <class Rule>
std::vector<std::uint64_t> hashes_of_raw(RawPlane<Rule> const& raw) {
  return bench::raw_hashes(1, [&](auto const& visit) { raw.visit(visit); });
}

struct Adaptive {
  Field<2> now, next;
  ts::Scalar<double> highest;

  void step() {
    next(inner, inner) = now(inner, inner) - rate / highest * now(inner, inner) *
                                                 ((now(inner, inner) - now(before, inner)) +
                                                  (now(inner, inner) - now(inner, before)));
    highest = ts::max(ts::abs(next(inner, inner)));
    std::swap(now, next);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(now)}; }
  static auto hashes_of(RawPlane<AdaptiveRule> const& raw) { return hashes_of_raw(raw); }
};

struct Jacobi {
  Field<2> now, next;
  ts::Scalar<double> change;

  void step() {
    next(inner, inner) =
        0.25 * (now(before, inner) + now(after, inner) + now(inner, before) + now(inner, after));
    change = ts::sum((next - now) * (next - now));
    std::swap(now, next);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const { return {ts::hash(now)}; }
  static auto hashes_of(RawPlane<JacobiRule> const& raw) { return hashes_of_raw(raw); }
};

template <class State, class Rule>
int bench_plane(Case const& what) {
  auto const n = what.cells;
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none));
  auto const start =
      ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); });
  auto const first_value = ts::max(ts::full<double>({1, 1}, Rule::start, rows));
  RawPlane<Rule> raw(n);
  constexpr std::int64_t bytes_per_cell = 2 * sizeof(double);  // one read, one written
  return bench::compare(what, State{start, start, first_value}, raw, bytes_per_cell * n * n);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  if (what->label.starts_with("adaptive")) return bench_plane<Adaptive, AdaptiveRule>(*what);
  if (what->label.starts_with("jacobi")) return bench_plane<Jacobi, JacobiRule>(*what);
  std::fprintf(stderr, "cases begin with adaptive or jacobi\n");
  return 2;
}
