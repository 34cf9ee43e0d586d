// Staggered meshes: arrays of n and of n + 1 rows, which are cut alike along their first dimension.
// A plain loop of Tessera statements and a recorded one, beside the same written by hand with MPI.
//
//   bench_staggered LABEL 2 CELLS STEPS PAIRS     prints a line of JSON for each form; see
//   bench/run
//
// Labels begin with
//
//   water   waves of shallow water in a closed basin: heights h (n, n) in the cells, and the flows
//           u (n + 1, n) and v (n, n + 1) through their faces (Arakawa's grid C)
//   fdtd    an electric field ez (n + 1, n + 1) between walls that conduct, and the magnetic one,
//           hx (n + 1, n) and hy (n, n + 1), in two dimensions. Source: Yee, 1966
//
// and n is CELLS. The forms are `plain`, a loop of three statements a step, and `iterate`, the same
// recorded. The raw version goes through memory once a step: the three fields of a row are computed
// before those of the next row, each as soon as what it reads is there. It sends a row to each
// neighbour in a step, and computes the other rows while it travels. All have to end with the same
// bits.
#include <cstdint>
#include <cstdio>
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

auto const inner = ts::range(1, -1), lower = ts::range(0, -1), upper = ts::from(1);

/// Rows [first, past) of n, and how far those of n + 1 go: the last process has one more.
struct OwnRows {
  std::int64_t first, past, past_more;
  std::int64_t pitch;  ///< of n + 1 columns

  explicit OwnRows(std::int64_t n)
      : first(raw::begin_of(n, raw::process_count(), raw::own_rank())),
        past(raw::begin_of(n, raw::process_count(), raw::own_rank() + 1)),
        past_more(past == n ? n + 1 : past),
        pitch(raw::whole_lines(n + 1) + raw::line_doubles) {}
};

constexpr double gravity = 0.3, depth = 0.25;  // times the step in time, divided by that in space

/// By hand:
///
///     row i of u     ------------------    reads h of rows i - 1 and i
///     row i of v, h  | . | . | . | . |     h reads u of rows i and i + 1
///
/// The last process keeps the wall behind its rows of u where others have room for a row.
class RawWater {
 public:
  explicit RawWater(std::int64_t n)
      : n_(n),
        rows_(n),
        h_(rows_.first, rows_.past, rows_.pitch, {1, 0}),
        u_(rows_.first, rows_.past, rows_.pitch, {0, 1}),
        v_(rows_.first, rows_.past, rows_.pitch, {0, 0}) {
    for (auto i = rows_.first; i < rows_.past; ++i)
      for (std::int64_t j = 0; j < n; ++j) h_.row(i)[j] = start_at(i * n + j);
  }

  void step() {
    auto const first = rows_.first, last = rows_.past - 1;
    h_.start({1, 0});
    update_v(first);
    for (auto i = first + 1; i <= last; ++i) {
      update_u(i);
      update_v(i);
      if (i - 1 > first) update_h(i - 1);
    }
    h_.wait();
    if (first > 0) update_u(first);
    u_.start({0, 1});
    if (first < last) update_h(first);
    u_.wait();
    update_h(last);
  }

  template <class Visit>
  void visit(Visit const& f) const {
    raw::for_values(h_, rows_.past, n_, [&](auto cell, double x) { f(0, cell, x); });
    raw::for_values(u_, rows_.past_more, n_, [&](auto cell, double x) { f(1, cell, x); });
    raw::for_values(v_, rows_.past, n_ + 1, [&](auto cell, double x) { f(2, cell, x); });
  }

 private:
  void update_u(std::int64_t i) {
    auto* const u = u_.row(i);
    double const* const before = h_.row(i - 1);
    double const* const h = h_.row(i);
    raw::for_cells(0, n_, [=](auto j) { u[j] -= gravity * (h[j] - before[j]); });
  }
  void update_v(std::int64_t i) {
    auto* const v = v_.row(i);
    double const* const h = h_.row(i);
    raw::for_cells(1, n_, [=](auto j) { v[j] -= gravity * (h[j] - h[j - 1]); });
  }
  void update_h(std::int64_t i) {
    auto* const h = h_.row(i);
    double const* const u = u_.row(i);
    double const* const behind = u_.row(i + 1);
    double const* const v = v_.row(i);
    raw::for_cells(0, n_, [=](auto j) { h[j] -= depth * (behind[j] - u[j] + v[j + 1] - v[j]); });
  }

  std::int64_t n_;
  OwnRows rows_;
  raw::Slab h_, u_, v_;
};

struct Water {
  Field<2> h, u, v;

  void step() {
    u(inner, ts::all) -= gravity * (h(upper, ts::all) - h(lower, ts::all));
    v(ts::all, inner) -= gravity * (h(ts::all, upper) - h(ts::all, lower));
    h -= depth * (u(upper, ts::all) - u(lower, ts::all) + v(ts::all, upper) - v(ts::all, lower));
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    return {ts::hash(h), ts::hash(u), ts::hash(v)};
  }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(RawWater const& raw) {
    return bench::raw_hashes(3, [&](auto const& visit) { raw.visit(visit); });
  }
};

constexpr double courant = 0.5;

/// 0 on the walls of a field of n + 1 cells.
double field_at(std::int64_t n, std::int64_t i, std::int64_t j) {
  bool const is_wall = i == 0 || i == n || j == 0 || j == n;
  return is_wall ? 0.0 : start_at(i * (n + 1) + j);
}

/// By hand:
///
///     row i of ez, hx   +-+-+-+-+-+    ez reads hy of rows i - 1 and i
///     row i of hy       | | | | | |    reads ez of rows i and i + 1
///
/// The last process keeps row n of ez and hx where others have room for a row.
class RawFdtd {
 public:
  explicit RawFdtd(std::int64_t n)
      : n_(n),
        rows_(n),
        ez_(rows_.first, rows_.past, rows_.pitch, {0, 1}),
        hx_(rows_.first, rows_.past, rows_.pitch, {0, 1}),
        hy_(rows_.first, rows_.past, rows_.pitch, {1, 0}) {
    for (auto i = rows_.first; i < rows_.past_more; ++i)
      for (std::int64_t j = 0; j <= n; ++j) ez_.row(i)[j] = field_at(n, i, j);
  }

  void step() {
    auto const first = rows_.first, last = rows_.past - 1;
    ez_.start({0, 1});
    for (auto i = first; i < last; ++i) {
      update_h(i);
      if (i > first) update_ez(i);
    }
    ez_.wait();
    update_h(last);
    hy_.start({1, 0});
    if (first < last) update_ez(last);
    if (rows_.past_more > rows_.past) update_hx(n_);
    hy_.wait();
    if (first > 0) update_ez(first);
  }

  template <class Visit>
  void visit(Visit const& f) const {
    raw::for_values(ez_, rows_.past_more, n_ + 1, [&](auto cell, double x) { f(0, cell, x); });
    raw::for_values(hx_, rows_.past_more, n_, [&](auto cell, double x) { f(1, cell, x); });
    raw::for_values(hy_, rows_.past, n_ + 1, [&](auto cell, double x) { f(2, cell, x); });
  }

 private:
  void update_h(std::int64_t i) {
    update_hx(i);
    auto* const hy = hy_.row(i);
    double const* const ez = ez_.row(i);
    double const* const behind = ez_.row(i + 1);
    raw::for_cells(0, n_ + 1, [=](auto j) { hy[j] += courant * (behind[j] - ez[j]); });
  }
  void update_hx(std::int64_t i) {
    auto* const hx = hx_.row(i);
    double const* const ez = ez_.row(i);
    raw::for_cells(0, n_, [=](auto j) { hx[j] -= courant * (ez[j + 1] - ez[j]); });
  }
  void update_ez(std::int64_t i) {
    auto* const ez = ez_.row(i);
    double const* const before = hy_.row(i - 1);
    double const* const hy = hy_.row(i);
    double const* const hx = hx_.row(i);
    raw::for_cells(1, n_,
                   [=](auto j) { ez[j] += courant * (hy[j] - before[j] - (hx[j] - hx[j - 1])); });
  }

  std::int64_t n_;
  OwnRows rows_;
  raw::Slab ez_, hx_, hy_;
};

struct Fdtd {
  Field<2> ez, hx, hy;

  void step() {
    hx -= courant * (ez(ts::all, upper) - ez(ts::all, lower));
    hy += courant * (ez(upper, ts::all) - ez(lower, ts::all));
    ez(inner, inner) +=
        courant * (hy(upper, inner) - hy(lower, inner) - (hx(inner, upper) - hx(inner, lower)));
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    return {ts::hash(ez), ts::hash(hx), ts::hash(hy)};
  }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(RawFdtd const& raw) {
    return bench::raw_hashes(3, [&](auto const& visit) { raw.visit(visit); });
  }
};

std::int64_t bytes_of(std::int64_t n) {
  return 6 * static_cast<std::int64_t>(sizeof(double)) * n * n;  // three fields, read and written
}

ts::NamedSharding rows_of_all_devices() {
  return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none)};
}

int bench_water(Case const& what) {
  auto const n = what.cells;
  auto const rows = rows_of_all_devices();
  Water const start{
      ts::from_index<double>({n, n}, rows, [=](auto i) { return start_at(i[0] * n + i[1]); }),
      ts::zeros<double>({n + 1, n}, rows), ts::zeros<double>({n, n + 1}, rows)};
  RawWater raw(n);
  return bench::compare(what, start, raw, bytes_of(n));
}

int bench_fdtd(Case const& what) {
  auto const n = what.cells;
  auto const rows = rows_of_all_devices();
  Fdtd const start{
      ts::from_index<double>({n + 1, n + 1}, rows, [=](auto i) { return field_at(n, i[0], i[1]); }),
      ts::zeros<double>({n + 1, n}, rows), ts::zeros<double>({n, n + 1}, rows)};
  RawFdtd raw(n);
  return bench::compare(what, start, raw, bytes_of(n));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  if (what->label.starts_with("water")) return bench_water(*what);
  if (what->label.starts_with("fdtd")) return bench_fdtd(*what);
  std::fprintf(stderr, "cases begin with water or fdtd\n");
  return 2;
}
