/// With a summed area table, the sum over any rectangle of a picture takes four reads: cell (i, j)
/// of the table is the sum of rows 0 to i and columns 0 to j.
///
/// Sums along a dimension need all of it on one device. So the picture is cut by rows, then by
/// columns: an all-to-all, as in a transform along each dimension.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tessera/collectives.hpp>

namespace ts = tessera;

using Table = ts::DistArray<std::int64_t, 2>;

namespace {

/// Adds up along a dimension that no mesh axis cuts.
void add_along(Table& table, std::size_t dimension) {
  ts::for_each_shard(table, [=](ts::ShardView<std::int64_t, 2> const& shard) {
    auto const before = [&](std::int64_t i, std::int64_t j) {
      return dimension == 0 ? shard(i - 1, j) : shard(i, j - 1);
    };
    for (std::int64_t i = dimension == 0 ? 1 : 0; i < shard.extent(0); ++i)
      for (std::int64_t j = dimension == 1 ? 1 : 0; j < shard.extent(1); ++j)
        shard(i, j) += before(i, j);
  });
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  std::int64_t const rows = argc > 2 ? std::atoll(argv[1]) : 2000;
  std::int64_t const columns = argc > 2 ? std::atoll(argv[2]) : 3000;
  if (rows < 4 || columns < 4) {
    if (ts::process().value() == 0) std::fputs("give 4 rows and columns or more\n", stderr);
    return 2;
  }
  ts::NamedSharding const by_rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x", ts::none));
  auto const picture = ts::from_index<std::int64_t>(
      {rows, columns}, by_rows, [](auto i) { return (i[0] * 7919 + i[1] * 104729) % 256; });

  Table table = picture;
  add_along(table, 1);
  table = ts::all_to_all(table, "x", {.from = 0, .to = 1});
  add_along(table, 0);

  // The middle: what lies in the table up to its last row and column, less what is outside of it.
  auto const top = rows / 4, left = columns / 4, bottom = rows * 3 / 4, right = columns * 3 / 4;
  std::int64_t const by_table = table(bottom - 1, right - 1) - table(top - 1, right - 1) -
                                table(bottom - 1, left - 1) + table(top - 1, left - 1);
  std::int64_t const by_sum = ts::sum(picture(ts::range(top, bottom), ts::range(left, right)));
  if (ts::process().value() == 0)
    std::printf("the middle of %lld x %lld cells: %lld by the table, %lld by a sum\n",
                static_cast<long long>(rows), static_cast<long long>(columns),
                static_cast<long long>(by_table), static_cast<long long>(by_sum));
  return by_table == by_sum ? 0 : 1;
}
