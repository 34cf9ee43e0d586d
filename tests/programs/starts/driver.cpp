// Programs whose Runtime begins or ends in trouble.
//
//     driver <scenario>
//
// tests/programs/starts/run.py starts it, and looks at what the processes say.

#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include <mpi.h>
#include <src/base/file_bytes.hpp>
#include <src/device/device_limit.hpp>
#include <sys/resource.h>
#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

ts::DistArray<double, 1> start() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  return ts::from_index<double>({40}, rows, [](auto i) { return 0.1 * double(i[0] % 7); });
}

bool is_second() {
  return ts::process() == ts::ProcessId{1};
}

void throws() {
  auto const u = start();
  if (is_second()) throw std::runtime_error("the program's own trouble");
  std::printf("%g\n", ts::sum(u).value());
}

void makes_a_mistake() {
  auto const u = start();
  if (is_second()) (void)u(40);
  std::printf("%g\n", ts::sum(u).value());
}

// Before anything is sent.
void functor_throws() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto const u = ts::from_index<double>({40}, rows, [](auto i) {
    if (is_second()) throw std::runtime_error("the functor's own trouble");
    return double(i[0]);
  });
  std::printf("%g\n", ts::sum(u).value());
}

// An error that was handled has no part in a later one.
void handles_and_throws() {
  try {
    (void)start()(40);
  } catch (ts::IndexError const&) {
  }
  throws();
}

// For what the Runtime makes, process 1 has too little of a resource that no limit of devices
// counts.
void lack_memory(int& argc, char**& argv) {
  int provided = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 1) return;
  auto const status = ts::bytes_of_file("/proc/self/status").value_or("");
  auto const used = static_cast<rlim_t>(ts::detail::number_of(status, "VmData")) << 10U;
  rlimit const limit{used + (rlim_t{40} << 20U), RLIM_INFINITY};
  setrlimit(RLIMIT_DATA, &limit);
}

std::map<std::string, std::function<void()>> const scenarios{
    {"begins", [] {}},
    {"throws", throws},
    {"makes_a_mistake", makes_a_mistake},
    {"functor_throws", functor_throws},
    {"handles_and_throws", handles_and_throws},
};

}  // namespace

// Catches outside of the Runtime.
int main(int argc, char** argv) {
  auto const found = scenarios.find(argc > 1 ? argv[1] : "");
  if (found == scenarios.end()) return 2;
  try {
    if (argc > 2 && std::string(argv[2]) == "lacks_memory") lack_memory(argc, argv);
    ts::Runtime runtime(argc, argv);
    found->second();
  } catch (std::exception const& error) {
    std::printf("caught: %s\n", error.what());
    std::fflush(stdout);
    // All processes throw where a Runtime begins in trouble; none ends before the last has said so.
    int has_mpi = 0;
    MPI_Initialized(&has_mpi);
    if (has_mpi != 0 && found->first == "begins") MPI_Barrier(MPI_COMM_WORLD);
    return 1;
  }
  std::printf("done\n");
}
