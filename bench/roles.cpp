// Times one product, for bench/roles.py.
//
//   bench_roles M K N A B C RUNS    (M, K) times (K, N) into (M, N), in float
//
// A, B and C say how the matrices lie: "rows", "columns" or "copies". Prints a line of JSON: the
// seconds of each run, until the last process has ended it, and what `explain` says of the choice.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <tessera/products.hpp>

#include "pairs.hpp"

namespace ts = tessera;

namespace {

ts::NamedSharding lying(std::string_view how) {
  ts::Mesh const mesh({{"x", ts::device_count()}});
  if (how == "rows") return {mesh, ts::P("x", ts::none)};
  return {mesh, how == "columns" ? ts::P(ts::none, "x") : ts::P(ts::none, ts::none)};
}

ts::DistArray<float, 2> matrix(std::int64_t rows, std::int64_t columns, std::string_view how) {
  return ts::from_index<float>({rows, columns}, lying(how), [=](auto const& i) {
    return static_cast<float>(bench::start_at(i[0] * columns + i[1]));
  });
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime const runtime(argc, argv);
  if (argc != 8) {
    if (ts::process() == ts::ProcessId{0})
      std::fprintf(stderr, "usage: %s M K N A B C RUNS\n", argv[0]);
    return 2;
  }
  auto const m = std::atoll(argv[1]), k = std::atoll(argv[2]), n = std::atoll(argv[3]);
  auto const a = matrix(m, k, argv[4]), b = matrix(k, n, argv[5]);
  auto c = matrix(m, n, argv[6]);
  auto const multiply = [&] { ts::matmul_into(c, a, b); };
  auto const choice = ts::explain(multiply).statements.at(0).choice.value();

  std::string list;
  for (int run = 0; run < std::atoi(argv[7]); ++run)
    list += (run == 0 ? "" : ", ") + std::to_string(bench::time_run(multiply));
  auto const bits = ts::hash(c);
  if (ts::process() == ts::ProcessId{0})
    std::printf(R"({"seconds": [%s], "roles": "%s", "expected": %.6f, "hash": "%016)" PRIx64
                "\"}\n",
                list.c_str(), choice.roles.c_str(), choice.seconds, bits);
  return 0;
}
