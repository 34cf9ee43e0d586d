// The heat equation on GPUs: a plain loop of Tessera statements and a recorded one, beside kernels
// written by hand, their CUDA graph where launches are what costs, and a copy of as many cells. All
// run in turn in the same processes and have to end with the same bits.
//
//   bench_gpu gpu                                  the GPU's name; code 77 where there is none
//   bench_gpu LABEL DIMENSIONS CELLS STEPS PAIRS   a line of JSON for each form; see bench/gpu
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "cuda/raw_heat.hpp"
#include "forms.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Field;
using bench::start_at;
using raw::CudaHeat;

namespace {

auto const inner = ts::range(1, -1), before = ts::range(0, -2), after = ts::from(2);

constexpr std::int64_t rows_2d = 256;            // few long rows: what counts are their messages
constexpr std::int64_t graph_steps = 100;        // in one launch
constexpr std::int64_t most_in_graph = 1 << 20;  // cells beyond which launches cost nothing

struct Heat1d {
  static constexpr raw::Weights weights{0.8, 0.1};
  Field<1> u;

  void step() {
    u(inner) = weights.stay * u(inner) + weights.pass * u(before) + weights.pass * u(after);
  }
};

struct Heat2d {
  static constexpr raw::Weights weights{0.6, 0.1};
  Field<2> u;

  void step() {
    constexpr auto pass = weights.pass;
    u(inner, inner) = weights.stay * u(inner, inner) + pass * u(before, inner) +
                      pass * u(after, inner) + pass * u(inner, before) + pass * u(inner, after);
  }
};

struct Heat3d {
  static constexpr raw::Weights weights{0.4, 0.1};
  Field<3> u;

  void step() {
    constexpr auto pass = weights.pass;
    u(inner, inner, inner) = weights.stay * u(inner, inner, inner) +
                             pass * u(before, inner, inner) + pass * u(after, inner, inner) +
                             pass * u(inner, before, inner) + pass * u(inner, after, inner) +
                             pass * u(inner, inner, before) + pass * u(inner, inner, after);
  }
};

// Steps by hand in graphs, with a field of their own.
class Graph {
 public:
  explicit Graph(CudaHeat& heat) : heat_(heat), graph_(heat.graph_of(graph_steps)) {}
  ~Graph() { cudaGraphExecDestroy(graph_); }
  Graph(Graph const&) = delete;
  Graph& operator=(Graph const&) = delete;

  void run(std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; i += graph_steps) heat_.run(graph_);
    heat_.wait();
  }

 private:
  CudaHeat& heat_;
  cudaGraphExec_t graph_;
};

// Prints a line for each form, and returns the exit code. make_raw() makes a version by hand.
template <class State, class MakeRaw>
int compare(Case const& what, State const& start, MakeRaw const& make_raw) {
  auto const size = start.u.shape().size();
  auto plain = start, recorded = start;
  auto program = ts::record([&] { recorded.step(); });
  CudaHeat raw = make_raw(), in_graph = make_raw();
  raw.fill(start_at);
  std::vector<bench::Form> forms{{"plain",
                                  [&](std::int64_t steps) {
                                    for (std::int64_t i = 0; i < steps; ++i) plain.step();
                                  }},
                                 {"iterate", [&](std::int64_t steps) { program.run(steps); }},
                                 {"copy", [&](std::int64_t steps) { raw.copy(steps); }}};
  std::optional<Graph> graph;
  if (size <= most_in_graph && ts::process_count() == 1 && what.steps % graph_steps == 0) {
    in_graph.fill(start_at);
    forms.push_back({"raw-graph", [&](std::int64_t steps) { graph->run(steps); }});
    graph.emplace(in_graph);
  }
  std::int64_t steps = 0;
  auto const times = bench::time_forms(what, forms, [&] {
    raw.step();
    if (++steps % what.steps == 0) raw.wait();
  });

  auto const hash_of = [](CudaHeat& heat) {
    return bench::raw_hashes(1, [&](auto const& visit) {
      heat.for_each([&](std::int64_t cell, double value) { visit(0, cell, value); });
    })[0];
  };
  auto const wanted = hash_of(raw);
  int wrong = 0;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    std::string_view const name = forms[i].name;
    bool const is_right = name == "plain"     ? ts::hash(plain.u) == wanted
                          : name == "iterate" ? ts::hash(recorded.u) == wanted
                          : name == "copy"    ? true
                                              : hash_of(in_graph) == wanted;
    auto const bytes = 2 * static_cast<std::int64_t>(sizeof(double)) * size * what.steps;
    wrong += bench::print(what, times[i], is_right, forms[i].name,
                          ", \"bytes\": " + std::to_string(bytes));
  }
  return wrong;
}

int bench_case(Case const& what) {
  auto const n = what.cells;
  ts::Mesh mesh({{"x", ts::device_count()}});
  if (what.dimensions == 1) {
    Heat1d const start{
        ts::from_index<double>({n}, {mesh, ts::P("x")}, [](auto i) { return start_at(i[0]); })};
    return compare(what, start, [&] { return CudaHeat(1, n, 1, 1, Heat1d::weights); });
  }
  if (what.dimensions == 2) {
    Heat2d const start{ts::from_index<double>({rows_2d, n}, {mesh, ts::P("x", ts::none)},
                                              [=](auto i) { return start_at(i[0] * n + i[1]); })};
    return compare(what, start, [&] { return CudaHeat(2, rows_2d, 1, n, Heat2d::weights); });
  }
  Heat3d const start{
      ts::from_index<double>({n, n, n}, {mesh, ts::P("x", ts::none, ts::none)},
                             [=](auto i) { return start_at((i[0] * n + i[1]) * n + i[2]); })};
  return compare(what, start, [&] { return CudaHeat(3, n, n, n, Heat3d::weights); });
}

// Before any GPU is asked for: without one, nothing else is to be seen here.
int print_gpu() {
  int count = 0;
  auto const error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::printf("no GPU: %s\n", error != cudaSuccess ? cudaGetErrorString(error) : "none is shown");
    return 77;
  }
  cudaDeviceProp properties{};
  raw::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::printf("%s\n", properties.name);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "gpu") return print_gpu();
  ts::Runtime runtime(argc, argv, {.kind = ts::DeviceKind::cuda});
  auto const what = bench::case_of(argc, argv);
  return what ? bench_case(*what) : 2;
}
