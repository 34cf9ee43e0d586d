// Programs that have MPI already and hand a communicator to their Runtimes.
//
//     driver <thread level> <devices of each process>
//
// tests/communicators/run.py starts it under mpirun. Every process prints what it finds wrong, and
// "done" at its end.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>
#include <tessera/job/mpi_communicator.hpp>
#include <tessera/tessera.hpp>

#include "src/base/detail.hpp"

namespace ts = tessera;

namespace {

constexpr std::int64_t cells = 41;
constexpr int steps = 30;

int rank = 0;
int size = 1;
bool is_wrong = false;
std::int64_t devices = 1;

void check(bool right, std::string const& what) {
  if (right) return;
  std::printf("process %d: wrong: %s\n", rank, what.c_str());
  is_wrong = true;
}

double start_at(std::int64_t i) {
  return 0.1 * static_cast<double>(i % 7);
}

// The same by hand, in one process.
std::uint64_t expected_bits() {
  std::vector<double> u(cells);
  for (std::int64_t i = 0; i < cells; ++i) u[static_cast<std::size_t>(i)] = start_at(i);
  for (int step = 0; step < steps; ++step) {
    auto const before = u;
    for (std::size_t i = 1; i + 1 < u.size(); ++i)
      u[i] = 0.8 * before[i] + 0.1 * before[i - 1] + 0.1 * before[i + 1];
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < u.size(); ++i) sum += ts::mix(i, ts::bits_of(u[i]));
  return sum;
}

std::uint64_t computed_bits() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto u = ts::from_index<double>({cells}, rows, [](auto i) { return start_at(i[0]); });
  auto const inner = ts::range(1, -1), left = ts::range(0, -2), right = ts::from(2);
  for (int i = 0; i < steps; ++i) u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
  return ts::hash(u);
}

ts::RuntimeOptions options() {
  return {.devices = devices};
}

// A Runtime of these processes, in which this one has the given number.
void compute_on(MPI_Comm communicator, int number, std::string const& name) {
  int count = 0;
  MPI_Comm_size(communicator, &count);
  ts::Runtime const runtime(communicator, options());
  check(ts::process_count() == count, name + ": the number of processes");
  check(ts::process().value() == number, name + ": the number of this process");
  check(ts::device_count() == count * devices, name + ": the number of devices");
  check(computed_bits() == expected_bits(), name + ": the bits");
}

MPI_Comm split(int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &made);
  return made;
}

void whole_job() {
  compute_on(MPI_COMM_WORLD, rank, "the whole job");
}

// The others talk among each other meanwhile, and make no Runtime.
void half_of_the_job() {
  auto half = split(rank % 2, rank);
  int number = 0;
  MPI_Comm_rank(half, &number);
  if (rank % 2 == 0) compute_on(half, number, "half of the job");
  int sum = 0;
  MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, half);
  MPI_Comm_free(&half);
}

void two_halves_at_once() {
  auto half = split(rank % 2, rank);
  compute_on(half, rank / 2, "two halves");
  MPI_Comm_free(&half);
}

void reversed() {
  auto turned = split(0, size - rank);
  compute_on(turned, size - 1 - rank, "reversed ranks");
  MPI_Comm_free(&turned);
}

void each_alone() {
  compute_on(MPI_COMM_SELF, 0, "each process alone");
}

// Communicators of Tessera's are given back: MPI has only so many.
void many_in_turn() {
  for (int i = 0; i < 10; ++i) {
    ts::Runtime const runtime(MPI_COMM_WORLD, options());
    check(ts::process_count() == size, "one Runtime after another");
  }
}

void uneven_devices() {
  ts::RuntimeOptions const uneven{.devices = rank == 1 ? 3 : 1};
  ts::Runtime const runtime(MPI_COMM_WORLD, uneven);
  check(ts::device_count() == size + 2, "different numbers of devices");
  check(computed_bits() == expected_bits(), "different numbers of devices: the bits");
}

// Messages of the program's own on the same communicator, between statements.
void own_messages() {
  ts::Runtime const runtime(MPI_COMM_WORLD, options());
  check(computed_bits() == expected_bits(), "before the program's own messages");
  int const next = (rank + 1) % size;
  int const before = (rank + size - 1) % size;
  int token = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &token, 1, MPI_INT, before, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  check(token == before, "the program's own message");
  check(computed_bits() == expected_bits(), "after the program's own messages");
}

template <class Error>
void refuses(std::function<void()> const& make, std::string const& words) {
  try {
    make();
    check(false, "accepted, but should say: " + words);
  } catch (Error const& error) {
    check(std::string(error.what()).find(words) != std::string::npos, error.what());
  }
}

// Arrays belong to their Runtime; the next one has fewer devices here.
void kept_array() {
  std::optional<ts::DistArray<double, 1>> kept;
  {
    ts::Runtime const first(MPI_COMM_WORLD, options());
    ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
    kept.emplace(ts::full<double>({cells}, 1.0, rows));
  }
  refuses<ts::UsageError>([&] { (void)ts::sum(*kept); }, "there is no tessera::Runtime");
  ts::Runtime const second(MPI_COMM_SELF, {.devices = 1});
  refuses<ts::UsageError>([&] { (void)ts::sum(*kept); }, "Runtime that has ended");
  refuses<ts::UsageError>([&] { *kept = 2.0; }, "Runtime that has ended");
  check(computed_bits() == expected_bits(), "beside an array of another Runtime");
}

void mistakes(int level) {
  refuses<ts::UsageError>([] { ts::Runtime const made(MPI_COMM_NULL); }, "MPI_COMM_NULL");
  auto half = split(rank % 2, rank);
  MPI_Comm across = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 0, &across);
  refuses<ts::UsageError>([&] { ts::Runtime const made(across); }, "intercommunicator");
  MPI_Comm_free(&across);
  MPI_Comm_free(&half);

  ts::RuntimeOptions none{.devices = 0};
  refuses<ts::ConfigError>([&] { ts::Runtime const made(MPI_COMM_WORLD, none); }, "at least 1");
  if (level == MPI_THREAD_SINGLE) {
    ts::RuntimeOptions two{.devices = 2};
    refuses<ts::ConfigError>([&] { ts::Runtime const made(MPI_COMM_WORLD, two); },
                             "MPI_THREAD_SINGLE");
    // One process that cannot is enough.
    ts::RuntimeOptions uneven{.devices = rank == 1 ? 2 : 1};
    refuses<ts::ConfigError>(
        [&] { ts::Runtime const made(MPI_COMM_WORLD, uneven); },
        "MPI_THREAD_SINGLE; ask for one device, or for MPI_THREAD_FUNNELED (process 1)");
    return;
  }
  ts::Runtime const first(MPI_COMM_WORLD, options());
  refuses<ts::UsageError>([] { ts::Runtime const second(MPI_COMM_WORLD); }, "already");
}

// Those of NCCL, where it is not; all processes hear of it alike.
void other_communicators() {
  ts::RuntimeOptions of_nccl{.devices = 1, .kind = ts::DeviceKind::emulated_gpu};
  auto const make = [&] { ts::Runtime const made(MPI_COMM_WORLD, of_nccl); };
  make();
  if (rank == 1) of_nccl.nccl_communicators = {nullptr};
  refuses<ts::UsageError>(make, "on some processes only");
  of_nccl.nccl_communicators = {nullptr};
  refuses<ts::UsageError>(make, "emulated GPUs have no NCCL");
  if (rank == 1) of_nccl.nccl_communicators.push_back(nullptr);
  refuses<ts::UsageError>(make, rank == 1 ? "2 for 1 device" : "nccl_communicators");
}

void another_thread(int level) {
  if (level == MPI_THREAD_SINGLE) return;
  std::thread([level] {
    if (level == MPI_THREAD_FUNNELED)
      refuses<ts::UsageError>([] { ts::Runtime const made(MPI_COMM_WORLD); }, "another one");
    else
      compute_on(MPI_COMM_WORLD, rank, "another thread");
  }).join();
}

int threads_of_this_process() {
  auto* const file = std::fopen("/proc/self/status", "r");
  char line[256];
  int threads = -1;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "Threads: %d", &threads) == 1) break;
  if (file != nullptr) std::fclose(file);
  return threads;
}

void no_thread_of_ours() {
  auto const before = threads_of_this_process();
  ts::Runtime const runtime(MPI_COMM_WORLD);
  check(ts::addressable_devices().size() == 1, "one device with MPI_THREAD_SINGLE");
  check(threads_of_this_process() == before, "no thread with MPI_THREAD_SINGLE");
}

void run(int level) {
  whole_job();
  half_of_the_job();
  two_halves_at_once();
  reversed();
  each_alone();
  many_in_turn();
  kept_array();
  own_messages();
  mistakes(level);
  another_thread(level);
  if (level == MPI_THREAD_SINGLE) {
    no_thread_of_ours();
    return;
  }
  uneven_devices();
  other_communicators();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  refuses<ts::UsageError>([] { ts::Runtime const made(MPI_COMM_WORLD); }, "not initialised");
  int const level = std::atoi(argv[1]);
  devices = std::atoi(argv[2]);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, level, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  check(provided == level, "MPI gives another thread level than was asked for");

  run(level);

  int finalised = 1;
  MPI_Finalized(&finalised);
  check(finalised == 0, "MPI is the program's to finalise");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  refuses<ts::UsageError>([] { ts::Runtime const made(MPI_COMM_WORLD); }, "finalised");
  if (!is_wrong) std::printf("done\n");
  return is_wrong ? 1 : 0;
}
