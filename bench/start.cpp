// What it takes to start and to end, beside MPI alone; and what a Runtime keeps in a process.
//
//   bench_start mpi        MPI_Init and MPI_Finalize
//   bench_start tessera    a Runtime and its end
//   bench_start memory     the bytes that a living Runtime keeps, on the process that keeps most
//
// Process 0 prints a line of JSON; bench/start.py runs them in turn.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <malloc.h>
#include <mpi.h>
#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

// What lives of operator new: MPI is written in C and uses malloc, so this is Tessera's alone.
std::atomic<std::int64_t> living_bytes{0};

using Clock = std::chrono::steady_clock;

int print_seconds(Clock::time_point start, bool speaks) {
  auto const seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (speaks) std::printf("{\"seconds\": %.6f}\n", seconds);
  return 0;
}

int time_mpi(int argc, char** argv) {
  auto const start = Clock::now();
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Finalize();
  return print_seconds(start, rank == 0);
}

int time_tessera(int argc, char** argv) {
  auto const start = Clock::now();
  bool speaks = false;
  {
    ts::Runtime const runtime(argc, argv);
    speaks = ts::process() == ts::ProcessId{0};
  }
  return print_seconds(start, speaks);
}

// Memory that is shared with other processes of the host.
std::int64_t segment_bytes() {
  std::int64_t sum = 0;
  auto* const maps = std::fopen("/proc/self/maps", "r");
  char line[512];
  while (maps != nullptr && std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0;
    unsigned long last = 0;
    if (std::string(line).find("memfd:tessera") != std::string::npos &&
        std::sscanf(line, "%lx-%lx", &first, &last) == 2)
      sum += static_cast<std::int64_t>(last - first);
  }
  if (maps != nullptr) std::fclose(maps);
  return sum;
}

std::int64_t most_of_all(std::int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

int measure_memory(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  auto const before = living_bytes.load();
  {
    ts::Runtime const runtime(argc, argv);
    auto const heap = most_of_all(living_bytes.load() - before);
    auto const shared = most_of_all(segment_bytes());
    if (ts::process() == ts::ProcessId{0})
      std::printf("{\"heap_bytes\": %lld, \"shared_bytes\": %lld}\n", static_cast<long long>(heap),
                  static_cast<long long>(shared));
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

void* operator new(std::size_t size_bytes) {
  void* const memory = std::malloc(size_bytes == 0 ? 1 : size_bytes);
  if (memory == nullptr) throw std::bad_alloc();
  living_bytes += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}
// GCC does not see that the memory comes from the malloc above.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept {
  living_bytes -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}
#pragma GCC diagnostic pop

int main(int argc, char** argv) {
  std::string const what = argc == 2 ? argv[1] : "";
  if (what == "mpi") return time_mpi(argc, argv);
  if (what == "tessera") return time_tessera(argc, argv);
  if (what == "memory") return measure_memory(argc, argv);
  std::fprintf(stderr, "usage: bench_start mpi|tessera|memory\n");
  return 2;
}
