/// A pulse in a box whose borders absorb, as in seismic surveys: a source that a table describes, a
/// profile along each dimension, and the energy that is left. A plain loop and a recorded one.
/// docs/guide/loops.md.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <utility>

#include <tessera/tessera.hpp>

#include "support/arguments.hpp"
#include "support/timing.hpp"

namespace ts = tessera;

namespace {

/// Two moments of the pressure, and what does not change.
struct Box {
  ts::DistArray<double, 2> before, now;
  ts::DistArray<double, 1> damping;  ///< on every device: 1, and less near the ends
  ts::DistArray<double, 1> source;   ///< on every device: a value for each step
  ts::Scalar<double> energy;

  void step(ts::Step t) {
    constexpr double ratio = 0.25;  // (speed · time step / cell)²
    auto const inner = ts::range(1, -1), less = ts::range(0, -2), more = ts::from(2);
    auto const middle = now.extent(0) / 2;
    before(inner, inner) = damping(inner, ts::newaxis) * damping(ts::newaxis, inner) *
                           (2.0 * now(inner, inner) - before(inner, inner) +
                            ratio * (now(less, inner) + now(more, inner) + now(inner, less) +
                                     now(inner, more) - 4.0 * now(inner, inner)));
    before(middle, middle) += source(t);
    std::swap(before, now);
    energy = ts::sum((now - before) * (now - before));
  }
};

Box box_of(std::int64_t cells, std::int64_t steps) {
  ts::Mesh const mesh({{"y", ts::device_count()}});
  ts::NamedSharding const rows(mesh, ts::P("y", ts::none)), everywhere(mesh, ts::P(ts::none));
  auto const at_rest = ts::zeros<double>({cells, cells}, rows);
  return {at_rest, at_rest,
          ts::from_index<double>({cells}, everywhere,
                                 [=](auto i) {
                                   auto const depth = std::min(i[0], cells - 1 - i[0]);
                                   return depth < 20 ? 1 - 1e-4 * static_cast<double>((20 - depth) *
                                                                                      (20 - depth))
                                                     : 1.0;
                                 }),
          ts::from_index<double>({steps}, everywhere,
                                 [](auto i) {
                                   auto const x = 0.02 * static_cast<double>(i[0] * i[0]) - 2;
                                   return (1 - x * x) * std::exp(-x * x);
                                 }),
          ts::sum(at_rest)};
}

}  // namespace

// echo_2d [CELLS] [STEPS]: fails unless both loops have the same bits.
int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const cells = examples::argument(argc, argv, 1, 1000);
  auto const steps = examples::argument(argc, argv, 2, 600);
  auto plain = box_of(cells, steps), recorded = box_of(cells, steps);

  auto const plain_time = examples::time(1, [&] {
    for (std::int64_t s = 0; s < steps; ++s) plain.step(ts::Step(s));
  });
  auto program = ts::record([&](ts::Step t) { recorded.step(t); });
  auto const recorded_time = examples::time(1, [&] { program.run(steps); });

  double const energy = recorded.energy;
  if (ts::process().value() == 0) {
    std::cout << program.explain();
    std::printf("%.1f us a step in a plain loop, %.1f recorded; energy %.6g\n",
                plain_time / static_cast<double>(steps), recorded_time / static_cast<double>(steps),
                energy);
  }
  bool const is_same = ts::hash(plain.now) == ts::hash(recorded.now) && plain.energy == energy;
  return is_same ? 0 : 1;
}
