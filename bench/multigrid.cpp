// Multigrid cycles in a cube with fixed faces: 27-point operators on meshes of 2^k + 1 cells along
// each side, down to 5, all cut into slabs alike. As a plain loop of Tessera statements and as a
// recorded one, beside the same written by hand with MPI.
//
//   bench_multigrid LABEL 3 CELLS STEPS PAIRS     prints a line of JSON for each form; see
//   bench/run
//
// CELLS is 2^k + 1, and the number of processes is 1, 2 or 4. A step is a cycle: the residual is
// restricted from mesh to mesh; on the coarsest one it is smoothed; on the way back corrections are
// prolonged, and each mesh finds its residual and smooths it once. Source: MG of the NAS Parallel
// Benchmarks (Bailey et al., 1991), whose operators these are; there, all ends are periodic.
//
// The forms are `plain`, a loop of some ten statements for each mesh, and `iterate`, the same
// recorded. Sums of rows that a statement reads several times have names (ts::let). The raw
// version, bench/raw/multigrid.hpp, has the cuts and the sums of Tessera; it prolongs in one pass,
// and computes planes while others travel. All have to end with the same bits.
#include "raw/multigrid.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "forms.hpp"

namespace ts = tessera;

using bench::Case;
using bench::start_at;
using Cells = bench::Field<3>;

namespace {

constexpr raw::Weights residual{.centre = -8.0 / 3, .face = 0, .edge = 1.0 / 6, .corner = 1.0 / 12};
constexpr raw::Weights smoother{
    .centre = -3.0 / 8, .face = 1.0 / 32, .edge = -1.0 / 64, .corner = 0};
constexpr raw::Weights restriction{
    .centre = 1.0 / 2, .face = 1.0 / 4, .edge = 1.0 / 8, .corner = 1.0 / 16};

auto const all = ts::all;

/// Cells along a dimension, with those before and behind them.
struct Along {
  ts::Range before, at, behind;
};
Along const inner{ts::range(0, -2), ts::range(1, -1), ts::from(2)};
// Of the fine cells around each inner coarse one.
Along const fine_inner{ts::range(1, -3, 2), ts::range(2, -2, 2), ts::range(3, ts::none, 2)};

/// Sums of the rows beside each row: four across faces, four across edges.
auto sum_faces(Cells const& u, Along const& d) {
  return ts::let(u(d.before, d.at, all) + u(d.behind, d.at, all) + u(d.at, d.before, all) +
                 u(d.at, d.behind, all));
}
auto sum_corners(Cells const& u, Along const& d) {
  return ts::let(u(d.before, d.before, all) + u(d.before, d.behind, all) +
                 u(d.behind, d.before, all) + u(d.behind, d.behind, all));
}

/// A u in the inner cells.
auto apply(Cells const& u) {
  auto const [before, at, behind] = inner;
  auto const faces = sum_faces(u, inner), corners = sum_corners(u, inner);
  return residual.centre * u(at, at, at) +
         residual.edge *
             (corners(all, all, at) + faces(all, all, before) + faces(all, all, behind)) +
         residual.corner * (corners(all, all, before) + corners(all, all, behind));
}

/// S r in the inner cells.
auto smooth(Cells const& r) {
  auto const [before, at, behind] = inner;
  auto const faces = sum_faces(r, inner), corners = sum_corners(r, inner);
  return smoother.centre * r(at, at, at) +
         smoother.face * (r(at, at, before) + r(at, at, behind) + faces(all, all, at)) +
         smoother.edge *
             (corners(all, all, at) + faces(all, all, before) + faces(all, all, behind));
}

void restrict_cells(Cells const& fine, Cells& coarse) {
  auto const [before, at, behind] = fine_inner;
  auto const faces = sum_faces(fine, fine_inner), corners = sum_corners(fine, fine_inner);
  coarse(inner.at, inner.at, inner.at) =
      restriction.centre * fine(at, at, at) +
      restriction.face * (fine(at, at, before) + fine(at, at, behind) + faces(all, all, at)) +
      restriction.edge *
          (corners(all, all, at) + faces(all, all, before) + faces(all, all, behind)) +
      restriction.corner * (corners(all, all, before) + corners(all, all, behind));
}

/// put(cells, values) is given the fine cells, those at every second place along each dimension.
template <class Put>
void prolong(Cells const& c, Cells& fine, Put const& put) {
  auto const even = ts::range(ts::none, ts::none, 2), odd = ts::range(1, ts::none, 2);
  auto const lower = ts::range(0, -1), upper = ts::from(1);
  auto const along_0 = c(lower, all, all) + c(upper, all, all);
  auto const along_1 = c(all, lower, all) + c(all, upper, all);
  auto const both = along_0(all, lower, all) + along_0(all, upper, all);
  auto const along_2 = [&](auto const& e) { return e(all, all, lower) + e(all, all, upper); };
  put(fine(even, even, even), c);
  put(fine(even, even, odd), 0.5 * along_2(c));
  put(fine(even, odd, even), 0.5 * along_1);
  put(fine(even, odd, odd), 0.25 * along_2(ts::let(along_1)));
  put(fine(odd, even, even), 0.5 * along_0);
  put(fine(odd, even, odd), 0.25 * along_2(ts::let(along_0)));
  put(fine(odd, odd, even), 0.25 * both);
  put(fine(odd, odd, odd), 0.125 * along_2(ts::let(both)));
}

/// The residual and the correction of each mesh, from the coarsest to the finest; the last
/// correction is u.
struct Multigrid {
  Cells f;
  std::vector<Cells> r, z;

  void step() {
    auto const in = inner.at;
    auto const assign = [](auto const& cells, auto const& values) { cells = values; };
    auto const add = [](auto const& cells, auto const& values) { cells += values; };
    auto const finest = r.size() - 1;
    auto& u = z[finest];
    for (auto m = finest; m > 0; --m) restrict_cells(r[m], r[m - 1]);
    z[0](in, in, in) = smooth(r[0]);
    for (std::size_t m = 1; m < finest; ++m) {
      prolong(z[m - 1], z[m], assign);
      r[m](in, in, in) -= apply(z[m]);
      z[m](in, in, in) += smooth(r[m]);
    }
    prolong(z[finest - 1], u, add);
    r[finest](in, in, in) = f(in, in, in) - apply(u);
    u(in, in, in) += smooth(r[finest]);
    r[finest](in, in, in) = f(in, in, in) - apply(u);
  }
  [[nodiscard]] std::vector<std::uint64_t> hashes() const {
    return {ts::hash(z.back()), ts::hash(r.back())};
  }
  [[nodiscard]] static std::vector<std::uint64_t> hashes_of(raw::Multigrid const& raw) {
    return bench::raw_hashes(2, [&](auto const& visit) {
      raw::for_values(raw.u(), [&](auto cell, double x) { visit(0, cell, x); });
      raw::for_values(raw.r(), [&](auto cell, double x) { visit(1, cell, x); });
    });
  }
};

/// From the coarsest mesh to one of n cells along a side; none where n is not 2^k + 1 or devices
/// would not cut meshes at the same places.
std::vector<std::int64_t> extents_up_to(std::int64_t n, std::int64_t devices) {
  constexpr std::int64_t coarsest = 4;  // units along a side
  if (coarsest % devices != 0) return {};
  std::vector<std::int64_t> extents;
  auto units = coarsest;
  for (; units < n; units *= 2) extents.push_back(units + 1);
  return units == 2 * (n - 1) && extents.size() > 1 ? extents : std::vector<std::int64_t>{};
}

int bench_cube(Case const& what) {
  auto const n = what.cells;
  auto const extents = extents_up_to(n, ts::device_count());
  if (extents.empty()) {
    std::fprintf(stderr, "CELLS is 9, 17, 33 ..., and the number of devices 1, 2 or 4\n");
    return 2;
  }
  auto const f_at = [=](std::int64_t i, std::int64_t j, std::int64_t k) {
    auto const is_inner = [=](std::int64_t x) { return x > 0 && x < n - 1; };
    return is_inner(i) && is_inner(j) && is_inner(k) ? start_at((i * n + j) * n + k) : 0.0;
  };
  ts::NamedSharding const slabs(ts::Mesh({{"x", ts::device_count()}}),
                                ts::P("x", ts::none, ts::none));
  Multigrid start{
      ts::from_index<double>({n, n, n}, slabs, [=](auto i) { return f_at(i[0], i[1], i[2]); }),
      {},
      {}};
  for (auto const cells : extents) {
    start.r.push_back(ts::zeros<double>({cells, cells, cells}, slabs));
    start.z.push_back(ts::zeros<double>({cells, cells, cells}, slabs));
  }
  start.r.back() = start.f;
  raw::Multigrid raw(extents, {residual, smoother, restriction});
  raw.fill(f_at);
  // Of the finest mesh: u is read and written, f is read, r is written.
  return bench::compare(what, start, raw,
                        4 * static_cast<std::int64_t>(sizeof(double)) * n * n * n);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? bench_cube(*what) : 2;
}
