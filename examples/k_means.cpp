/// Finds clusters of points in the plane by k-means. Each device has points of its own, and all
/// have the same centers: in each round a device adds up the points nearest to each center, and
/// one all_reduce adds up the devices' sums.
///
/// By hand, with MPI: the same loops, and MPI_Allreduce(MPI_IN_PLACE, sums, 3 * clusters,
/// MPI_INT64_T, MPI_SUM, comm).
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <tessera/collectives.hpp>

namespace ts = tessera;

namespace {

constexpr std::int64_t clusters = 4;

/// Coordinate `axis` of point number `i`: around one of four places, in a square of 1000 x 1000.
std::int64_t coordinate(std::int64_t i, std::int64_t axis) {
  auto const place = i % clusters;
  auto const middle = (axis == 0 ? place % 2 : place / 2) * 500 + 250;
  return middle + (i * (axis == 0 ? 7919 : 104729) / clusters) % 300 - 150;
}

/// The center nearest to a point.
std::int64_t nearest(ts::ShardView<double const, 2> const& centers, double x, double y) {
  auto const distance = [&](std::int64_t c) {
    auto const dx = centers(c, 0) - x, dy = centers(c, 1) - y;
    return dx * dx + dy * dy;
  };
  std::int64_t best = 0;
  for (std::int64_t c = 1; c < clusters; ++c)
    if (distance(c) < distance(best)) best = c;
  return best;
}

/// For each cluster: the sums of both coordinates of a device's points, and how many there are.
void add_up(ts::Member, ts::ShardView<std::int64_t, 2> const& sums,
            ts::ShardView<std::int64_t const, 2> const& points,
            ts::ShardView<double const, 2> const& centers) {
  for (std::int64_t c = 0; c < clusters; ++c) sums(c, 0) = sums(c, 1) = sums(c, 2) = 0;
  for (std::int64_t i = 0; i < points.extent(0); ++i) {
    auto const x = points(i, 0), y = points(i, 1);
    auto const c = nearest(centers, static_cast<double>(x), static_cast<double>(y));
    sums(c, 0) += x;
    sums(c, 1) += y;
    sums(c, 2) += 1;
  }
}

/// Moves each center to the middle of its points.
void move_centers(ts::Member, ts::ShardView<double, 2> const& centers,
                  ts::ShardView<std::int64_t const, 2> const& totals) {
  for (std::int64_t c = 0; c < clusters; ++c)
    for (std::int64_t axis = 0; axis < 2 && totals(c, 2) > 0; ++axis)
      centers(c, axis) = static_cast<double>(totals(c, axis)) / static_cast<double>(totals(c, 2));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  std::int64_t const count = argc > 1 ? std::atoll(argv[1]) : 100'000;
  if (count < clusters) {
    if (ts::process().value() == 0) std::fputs("give 4 points or more\n", stderr);
    return 2;
  }
  auto const all = ts::Mesh({{"all", ts::device_count()}}).group("all");

  // The points are dealt out in turn. The first centers are one point of each place.
  auto const points = ts::per_device<std::int64_t>(
      all,
      [&](ts::Member m) {
        return std::array<std::int64_t, 2>{(count - m.rank + all.size() - 1) / all.size(), 2};
      },
      [&](ts::Member m, auto i) { return coordinate(i[0] * all.size() + m.rank, i[1]); });
  auto centers = ts::per_device<double>(all, {clusters, 2},
                                        [](ts::Member, auto i) { return coordinate(i[0], i[1]); });
  auto sums = ts::per_device<std::int64_t>(all, {clusters, 3}, [](ts::Member, auto) { return 0; });

  for (int round = 0; round < 10; ++round) {
    ts::per_member(add_up, sums, points, std::as_const(centers));
    auto const totals = ts::all_reduce(sums);
    ts::per_member(move_centers, centers, totals);
  }

  auto const found = centers.to_host(0);
  if (ts::process().value() == 0)
    for (std::size_t c = 0; c < clusters; ++c)
      std::printf("center %zu: %.3f %.3f\n", c, found[2 * c], found[2 * c + 1]);
}
