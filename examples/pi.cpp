/// Pi by Monte Carlo: the share of random points in the unit square that lie in the quarter circle,
/// times 4. The points are the same, and so is every digit printed, for any number of processes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tessera/random.hpp>

namespace ts = tessera;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const points = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  constexpr std::int64_t rounds = 10;
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto inside = ts::zeros<std::int64_t>({points}, rows);  // of each point's rounds

  ts::random::Key const key(42);
  ts::iterate(rounds, [&](ts::Step t) {
    auto const [kx, ky] = key.at(t).split<2>();               // other points in every round
    auto const x = ts::let(ts::random::uniform<double>(kx));  // drawn once for both reads
    auto const y = ts::let(ts::random::uniform<double>(ky));
    inside += x * x + y * y < 1.0;
  });

  auto const tries = static_cast<double>(points * rounds);
  auto const share = static_cast<double>(std::int64_t{ts::sum(inside)}) / tries;
  auto const deviation = 4 * std::sqrt(share * (1 - share) / tries);
  if (ts::process().value() == 0) std::printf("pi = %.6f +- %.6f\n", 4 * share, deviation);
  return std::fabs(4 * share - 3.14159265358979) < 4 * deviation ? 0 : 1;
}
