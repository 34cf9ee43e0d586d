/// Pressure of water that seeps through soil: four versions of the same steps, from slow to fast,
/// with the same bits. docs/guide/speed.md shows how to find what makes a version slow.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include <tessera/tessera.hpp>

#include "support/arguments.hpp"

namespace ts = tessera;

namespace {

using Cells = ts::DistArray<double, 2>;

constexpr double still = 1e-12;  // where the pressure changes by less than that, nothing flows

/// What flows into each inner cell in a step: p is the pressure, k the permeability.
auto inflow(Cells const& p, Cells const& k) {
  auto const in = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);
  return 0.2 * k(in, in) *
         (p(before, in) + p(after, in) + p(in, before) + p(in, after) - 4.0 * p(in, in));
}

/// Asks in every step whether anything still flows.
void step_by_step(Cells& p, Cells const& k, std::int64_t steps) {
  auto const in = ts::range(1, -1);
  for (std::int64_t t = 0; t < steps; ++t) {
    Cells const flow = inflow(p, k);
    p(in, in) += flow;
    if (ts::max(ts::abs(flow)) < still) break;
  }
}

/// Asks after every hundred steps, and needs no array for what flows.
void in_hundreds(Cells& p, Cells const& k, std::int64_t steps) {
  auto const in = ts::range(1, -1);
  for (std::int64_t t = 0; t < steps; ++t) {
    p(in, in) += inflow(p, k);
    if (t % 100 == 99 && ts::max(ts::abs(inflow(p, k))) < still) break;
  }
}

/// The same, many steps at a time.
void in_blocks(Cells& p, Cells const& k, std::int64_t steps) {
  auto const in = ts::range(1, -1);
  ts::iterate_until(
      steps, [&] { p(in, in) += inflow(p, k); }, ts::every(100),
      [&] { return ts::max(ts::abs(inflow(p, k))) < still; });
}

/// Runs a version, prints the time of a step, and returns the bits of the result.
std::uint64_t run(std::int64_t version, std::int64_t n, std::int64_t steps) {
  ts::Mesh const mesh({{"x", ts::device_count()}});
  ts::NamedSharding const rows(mesh, ts::P("x", ts::none)), columns(mesh, ts::P(ts::none, "x"));
  auto p = ts::from_index<double, 2>({n, n}, rows, [](auto i) { return i[0] == 0 ? 1.0 : 0.0; });
  // In version 1 the permeability lies as another program left it: cut by columns.
  auto const k = ts::from_index<double, 2>({n, n}, version == 1 ? columns : rows, [](auto i) {
    return (i[0] / 8 + i[1] / 8) % 2 == 0 ? 1.0 : 0.25;
  });

  ts::synchronize();
  auto const start = std::chrono::steady_clock::now();
  if (version <= 2) step_by_step(p, k, steps);
  if (version == 3) in_hundreds(p, k, steps);
  if (version >= 4) in_blocks(p, k, steps);
  ts::synchronize();
  std::chrono::duration<double, std::milli> const passed = std::chrono::steady_clock::now() - start;

  if (ts::process().value() == 0)
    std::printf("version %d: %.3f ms a step\n", static_cast<int>(version),
                passed.count() / static_cast<double>(steps));
  return ts::hash(p);
}

}  // namespace

// seepage_2d [VERSION] [CELLS] [STEPS]: a version from 1 to 4, or 0 for all, which must agree.
int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const version = examples::argument(argc, argv, 1, 0, 0);
  auto const n = examples::argument(argc, argv, 2, 2048);
  auto const steps = examples::argument(argc, argv, 3, 200);
  if (version != 0) {
    (void)run(version, n, steps);
    return 0;
  }
  auto const bits = run(1, n, steps);
  bool agree = true;
  for (int other = 2; other <= 4; ++other) agree = run(other, n, steps) == bits && agree;
  return agree ? 0 : 1;
}
