/// Smoothing in space by the 27 cells around each one: sums of rows that are read three times each
/// are named by ts::let, and so computed once. docs/guide/speed.md.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>

#include "support/arguments.hpp"
#include "support/timing.hpp"

namespace ts = tessera;

namespace {

using Cells = ts::DistArray<double, 3>;

/// The mean around each inner cell, with weights for the cell, and for its neighbours across faces,
/// edges and corners. `name(e)` is e, or a name for it.
template <class Name>
auto smooth(Cells const& u, Name const& name) {
  auto const all = ts::all;
  auto const in = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  auto const sides =
      name(u(before, in, all) + u(after, in, all) + u(in, before, all) + u(in, after, all));
  auto const corners = name(u(before, before, all) + u(before, after, all) + u(after, before, all) +
                            u(after, after, all));
  return 0.3 * u(in, in, in) + 0.05 * (sides(all, all, in) + u(in, in, before) + u(in, in, after)) +
         0.02 * (corners(all, all, in) + sides(all, all, before) + sides(all, all, after)) +
         0.02 * (corners(all, all, before) + corners(all, all, after));
}

/// The same by plain loops, with a buffer for each sum of a row.
void smooth_by_hand(double const* u, double* v, std::int64_t n) {
  auto const cells = static_cast<std::size_t>(n);
  std::vector<double> buffer_1(cells), buffer_2(cells);
  for (std::int64_t row = n * n + n; row < n * n * (n - 1); row += n) {
    if (row / n % n == 0 || row / n % n == n - 1) continue;
    double* const sides = buffer_1.data();
    double* const corners = buffer_2.data();
    double const* const p = u + row;
    double* const q = v + row;
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) {
      sides[j] = p[j - n * n] + p[j + n * n] + p[j - n] + p[j + n];
      corners[j] = p[j - n * n - n] + p[j - n * n + n] + p[j + n * n - n] + p[j + n * n + n];
    }
#pragma GCC ivdep
    for (std::int64_t j = 1; j < n - 1; ++j)
      q[j] = 0.3 * p[j] + 0.05 * (sides[j] + p[j - 1] + p[j + 1]) +
             0.02 * (corners[j] + sides[j - 1] + sides[j + 1]) +
             0.02 * (corners[j - 1] + corners[j + 1]);
  }
}

}  // namespace

// smooth_3d [CELLS] [STEPS] [ROUNDS]: fails unless all three have the same bits. The plain loops
// run on one core.
int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const n = examples::argument(argc, argv, 1, 130);
  auto const steps = examples::argument(argc, argv, 2, 20);
  auto const rounds = examples::argument(argc, argv, 3, 9);
  ts::NamedSharding const slabs(ts::Mesh({{"x", ts::device_count()}}),
                                ts::P("x", ts::none, ts::none));
  auto const u = ts::from_index<double, 3>({n, n, n}, slabs, [](auto i) {
    return std::sqrt(static_cast<double>(1 + i[0] * 7 + i[1] * 31 + i[2]));
  });
  auto v = u, w = u;
  auto const plain_u = u.to_host();
  auto plain_v = plain_u;

  auto const in = ts::range(1, -1);
  std::vector<double> unnamed, named, by_hand;
  for (int round = 0; round < rounds; ++round) {
    unnamed.push_back(
        examples::time(steps, [&] { v(in, in, in) = smooth(u, [](auto const& e) { return e; }); }));
    named.push_back(examples::time(
        steps, [&] { w(in, in, in) = smooth(u, [](auto const& e) { return ts::let(e); }); }));
    by_hand.push_back(
        examples::time(steps, [&] { smooth_by_hand(plain_u.data(), plain_v.data(), n); }));
  }
  if (ts::process().value() == 0)
    std::printf("unnamed %.1f us, named %.1f us a step; plain loops on one core %.1f us\n",
                examples::median(unnamed), examples::median(named), examples::median(by_hand));
  return v.to_host() == plain_v && w.to_host() == plain_v ? 0 : 1;
}
