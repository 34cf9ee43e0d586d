/// How often each sum of three dice comes up: every process throws for itself and counts where the
/// counter lies, without asking anybody.
#include <cstdint>
#include <cstdio>
#include <random>

#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

// The throws of all processes are numbered, so that the result is the same for any number of them.
std::int64_t three_dice(std::int64_t number) {
  std::mt19937 random(static_cast<unsigned>(number));
  return static_cast<std::int64_t>(3 + random() % 6 + random() % 6 + random() % 6);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  constexpr std::int64_t throws = 20'000;
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto counts = ts::zeros<std::int64_t>({19}, rows);

  ts::fence(counts);  // from here on, cells are for whoever wants them
  for (auto i = ts::process().value(); i < throws; i += ts::process_count())
    counts.accumulate({three_dice(i)}, 1);
  ts::fence(counts);  // all is counted, everywhere

  auto const all = counts.to_host();
  if (ts::process().value() == 0)
    for (std::size_t sum = 3; sum < all.size(); ++sum)
      std::printf("%2zu %6lld\n", sum, static_cast<long long>(all[sum]));
  return std::int64_t{ts::sum(counts)} == throws ? 0 : 1;
}
