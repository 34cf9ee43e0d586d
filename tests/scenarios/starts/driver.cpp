// Programs whose Runtime begins or ends in trouble.
//
//     driver <scenario>
//
// tests/scenarios/starts/run.py starts it, and looks at what the processes say.

#include <csignal>
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
#include <unistd.h>

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

bool has_initialised = false;

// The program has MPI already. Returns the rank.
int initialise(int& argc, char**& argv) {
  has_initialised = true;
  int provided = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Between MPI_Init and its Runtime, process 1 is late: until somebody sends it a signal.
void be_late(int& argc, char**& argv) {
  if (initialise(argc, argv) != 1) return;
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &awaited, nullptr);
  std::printf("pid %d\n", getpid());
  std::fflush(stdout);
  int number = 0;
  sigwait(&awaited, &number);
}

void stop(int& argc, char**& argv) {
  if (initialise(argc, argv) == 1) std::raise(SIGSTOP);
}

// Process 1 is stopped when it comes to this call of MPI, inside the Runtime.
std::string call_to_stop_at;
int calls_before = 0;

void stop_at(char const* call) {
  if (call_to_stop_at != call || calls_before-- > 0) return;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) std::raise(SIGSTOP);
}

// For what the Runtime makes, process 1 has too little of a resource that no limit of devices
// counts.
void lack_memory(int& argc, char**& argv) {
  if (initialise(argc, argv) != 1) return;
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

// What happens on process 1 before its Runtime is there.
void meet_trouble(std::string const& trouble, int& argc, char**& argv) {
  if (trouble == "lacks_memory") return lack_memory(argc, argv);
  if (trouble == "is_late") return be_late(argc, argv);
  if (trouble == "stops") return stop(argc, argv);
  call_to_stop_at = trouble;
  calls_before = argc > 3 ? std::stoi(argv[3]) : 0;
}

}  // namespace

// MPI lets programs put their own functions in front of its own.
int MPI_Iallreduce(void const* from, void* to, int count, MPI_Datatype type, MPI_Op operation,
                   MPI_Comm communicator, MPI_Request* request) {
  stop_at("MPI_Iallreduce");
  return PMPI_Iallreduce(from, to, count, type, operation, communicator, request);
}

int MPI_Comm_split_type(MPI_Comm communicator, int type, int key, MPI_Info info, MPI_Comm* made) {
  stop_at("MPI_Comm_split_type");
  return PMPI_Comm_split_type(communicator, type, key, info, made);
}

// Catches outside of the Runtime.
int main(int argc, char** argv) {
  auto const found = scenarios.find(argc > 1 ? argv[1] : "");
  if (found == scenarios.end()) return 2;
  try {
    if (argc > 2) meet_trouble(argv[2], argc, argv);
    ts::Runtime runtime(argc, argv);
    found->second();
  } catch (std::exception const& error) {
    std::printf("caught: %s\n", error.what());
    std::fflush(stdout);
    // Where all processes throw, none ends before the last has said so.
    int has_mpi = 0;
    MPI_Initialized(&has_mpi);
    if (has_mpi != 0 && dynamic_cast<ts::ConfigError const*>(&error) != nullptr)
      MPI_Barrier(MPI_COMM_WORLD);
    return 1;
  }
  if (has_initialised) MPI_Finalize();
  std::printf("done\n");
}
