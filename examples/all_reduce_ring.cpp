/// An all-reduce written as a ring: in each of 2 (n - 1) rounds every device passes one of its n
/// pieces to the next device. First each piece is added up on its way around, then the finished
/// ones go around. ts::all_reduce gives the same in one call, for any number of cells, with sums in
/// the order of the ranks.
///
/// By hand, with MPI: examples/all_reduce_ring_mpi.cpp.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <tessera/collectives.hpp>

namespace ts = tessera;

namespace {

using Numbers = ts::PerDevice<std::int64_t, 1>;
using View = ts::ShardView<std::int64_t, 1>;
using ConstView = ts::ShardView<std::int64_t const, 1>;

/// Every member passes piece (rank - behind) to the next one, which adds it to its own or takes it.
void pass_on(Numbers& x, std::int64_t behind, bool adds) {
  auto const n = x.group().size();
  auto const piece_of = [n](std::int64_t rank, std::int64_t before) {
    return ((rank - before) % n + n) % n;
  };
  auto const sent = ts::per_member(
      [&](ts::Member m, ConstView const& own) {
        auto const cells = own.extent(0) / n;
        auto const* const first = own.data() + piece_of(m.rank, behind) * cells;
        return std::vector<std::int64_t>(first, first + cells);
      },
      std::as_const(x));
  ts::Moves around;
  for (std::int64_t rank = 0; rank < n; ++rank) around.emplace_back(rank, (rank + 1) % n);
  auto const received = ts::permute(sent, around);
  ts::per_member(
      [&](ts::Member m, View const& own, ConstView const& piece) {
        auto const first = piece_of(m.rank, behind + 1) * piece.extent(0);
        for (std::int64_t i = 0; i < piece.extent(0); ++i)
          own(first + i) = adds ? own(first + i) + piece(i) : piece(i);
      },
      x, received);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  std::int64_t const cells = argc > 1 ? std::atoll(argv[1]) : 1000;
  bool const speaks = ts::process().value() == 0;
  if (cells < 1) {
    if (speaks) std::fputs("give the number of cells of a piece: 1 or more\n", stderr);
    return 2;
  }
  auto const n = ts::device_count();
  auto const all = ts::Mesh({{"ring", n}}).group("ring");
  auto x = ts::per_device<std::int64_t>(all, {n * cells},
                                        [](ts::Member m, auto i) { return (m.rank + 1) * i[0]; });
  auto const whole = ts::all_reduce(x);

  for (std::int64_t round = 0; round + 1 < n; ++round) pass_on(x, round, true);
  for (std::int64_t round = 0; round + 1 < n; ++round) pass_on(x, round - 1, false);

  bool is_right = true;
  for (std::int64_t rank = 0; rank < n; ++rank)
    is_right = is_right && x.to_host(rank) == whole.to_host(rank);
  std::int64_t const last = x.to_host(0).back();
  if (speaks)
    std::printf("%lld cells on each of %lld, the last is %lld: %s\n",
                static_cast<long long>(whole.extents(0)[0]), static_cast<long long>(n),
                static_cast<long long>(last), is_right ? "as all_reduce gives" : "WRONG");
  return is_right ? 0 : 1;
}
