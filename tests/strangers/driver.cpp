// A job that can be attacked, and hands its strangers more than they could have.
//
//     strangers FOLDER [PAUSE_MS]
//
// Processes change and read each other's cells by messages, with an open epoch, and pass messages
// of a statement around, until the file FOLDER/end exists. With FOLDER/meet, every process connects
// to all others. What it prints does not depend on how long that takes.
//
// A stranger of the worst kind has got hold of the addresses of all workers and of requests that
// were sent: the job writes them to FOLDER/address.* and FOLDER/sent.*. The functions of UCX that
// it would have to look into are wrapped where the library looks them up (-Wl,--wrap=dlsym).

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <tessera/tessera.hpp>
#include <ucp/api/ucp.h>
#include <unistd.h>

namespace ts = tessera;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t cells = 41;
/// Messages written for strangers, each.
constexpr int most_written = 16;

/// What the strangers get. Threads: any.
class Leak {
 public:
  void open(fs::path const& folder, ts::ProcessId process) {
    std::lock_guard const guard(mutex_);
    folder_ = folder;
    process_ = std::to_string(process.value());
  }

  /// Writes bytes that it has not written yet.
  void write(std::string const& kind, void const* bytes, std::size_t size) {
    write(kind, {static_cast<char const*>(bytes), size});
  }
  void write(std::string const& kind, std::string const& text) {
    std::lock_guard const guard(mutex_);
    auto& known = known_[kind];
    if (folder_.empty() || std::ssize(known) == most_written || !known.insert(text).second) return;
    auto const name = kind + '.' + process_ + '.' + std::to_string(known.size());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

 private:
  std::mutex mutex_;
  fs::path folder_;
  std::string process_;
  std::map<std::string, std::set<std::string>> known_;
};

Leak leak;
decltype(&::ucp_worker_get_address) worker_get_address = nullptr;
decltype(&::ucp_am_send_nbx) am_send_nbx = nullptr;

ucs_status_t leaking_get_address(ucp_worker_h worker, ucp_address_t** address, std::size_t* size) {
  auto const status = worker_get_address(worker, address, size);
  if (status == UCS_OK) leak.write("address", *address, *size);
  return status;
}

ucs_status_ptr_t leaking_send(ucp_ep_h endpoint, unsigned id, void const* header,
                              std::size_t header_size, void const* bytes, std::size_t size,
                              ucp_request_param_t const* params) {
  leak.write("sent", bytes, size);
  return am_send_nbx(endpoint, id, header, header_size, bytes, size, params);
}

template <class Function>
void* wrapped(void* found, Function& original, Function leaking) {
  original = reinterpret_cast<Function>(found);
  return reinterpret_cast<void*>(leaking);
}

}  // namespace

extern "C" {
// Names that the linker gives.
// NOLINTBEGIN(bugprone-reserved-identifier)
void* __real_dlsym(void* handle, char const* name);
void* __wrap_dlsym(void* handle, char const* name);
int __real_listen(int socket, int backlog);
int __wrap_listen(int socket, int backlog);
ssize_t __real_send(int socket, void const* bytes, std::size_t size, int flags);
ssize_t __wrap_send(int socket, void const* bytes, std::size_t size, int flags);

void* __wrap_dlsym(void* handle, char const* name) {
  auto* const found = __real_dlsym(handle, name);
  std::string_view const wanted = name;
  if (wanted == "ucp_worker_get_address")
    return wrapped(found, worker_get_address, &leaking_get_address);
  if (wanted == "ucp_am_send_nbx") return wrapped(found, am_send_nbx, &leaking_send);
  return found;
}

int __wrap_listen(int socket, int backlog) {
  sockaddr_in place{};
  socklen_t size = sizeof place;
  std::array<char, INET_ADDRSTRLEN> letters{};
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&place), &size) == 0 &&
      place.sin_family == AF_INET &&
      ::inet_ntop(AF_INET, &place.sin_addr, letters.data(), letters.size()) != nullptr)
    leak.write("server", std::string(letters.data()) + ':' + std::to_string(ntohs(place.sin_port)));
  return __real_listen(socket, backlog);
}

ssize_t __wrap_send(int socket, void const* bytes, std::size_t size, int flags) {
  if (size < 100) leak.write("said", bytes, size);
  return __real_send(socket, bytes, size, flags);
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {

/// The arrays of the job.
struct Job {
  ts::NamedSharding rows{ts::Mesh({{"x", ts::device_count()}}), ts::P("x")};
  /// Added to by everybody, in all cells.
  ts::DistArray<std::int64_t, 1> sums = ts::zeros<std::int64_t>({cells}, rows);
  /// The last cell says in which round to end.
  ts::DistArray<std::int64_t, 1> flags = ts::zeros<std::int64_t>({ts::device_count()}, rows);
  /// Turned by one cell in each round.
  ts::DistArray<double, 1> ring =
      ts::from_index<double>({cells}, rows, [](auto i) { return 0.1 * double(i[0] * i[0] % 17); });

  void add_to_cells(std::int64_t first) {
    auto const own = ts::process().value() + 1;
    for (std::int64_t cell = first; cell < cells; cell += 2)
      sums.accumulate({cell}, own * (cell + 1));
  }
};

// Rounds until all see the flag: in a round no process is further ahead of another than there are
// processes, since the ring joins them.
std::int64_t rounds_to_the_end() {
  return 2 * ts::process_count() + 2;
}

// The number of rounds.
std::int64_t run_until_told(Job& job, fs::path const& folder, std::chrono::milliseconds pause) {
  auto const last = ts::device_count() - 1;
  bool has_met = false;
  bool has_told = false;
  for (std::int64_t round = 1;; ++round) {
    if (!has_met && fs::exists(folder / "meet")) {
      job.add_to_cells(1);
      has_met = true;
    }
    if (ts::process() == ts::ProcessId{0} && !has_told && has_met && fs::exists(folder / "end")) {
      job.flags.write({last}, round + rounds_to_the_end());
      has_told = true;
    }
    auto const end = job.flags.read({last});
    if (end == round) {
      if (!has_met) job.add_to_cells(1);
      return round;
    }
    job.ring = ts::roll(job.ring, 1);
    ts::synchronize();
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  fs::path const folder = argv[1];
  std::chrono::milliseconds const pause(argc > 2 ? std::atol(argv[2]) : 0);
  ts::Runtime runtime(argc, argv);
  leak.open(folder, ts::process());
  Job job;
  ts::fence(job.sums);
  ts::fence(job.flags);
  // The last process connects to nobody before it is told to.
  bool const is_last = ts::process().value() == ts::process_count() - 1;
  if (!is_last) job.add_to_cells(0);
  job.ring = ts::roll(job.ring, 1);
  ts::synchronize();
  std::printf("pid %d\n", ::getpid());
  std::fflush(stdout);
  auto const rounds = run_until_told(job, folder, pause);
  if (is_last) job.add_to_cells(0);
  ts::fence(job.sums);
  ts::fence(job.flags);
  job.ring = ts::roll(job.ring, -(rounds % cells));
  auto const sum = ts::sum(job.sums).value();
  auto const sums = static_cast<unsigned long long>(ts::hash(job.sums));
  auto const ring = static_cast<unsigned long long>(ts::hash(job.ring));
  std::printf("sum %lld bits %016llx %016llx\ndone\n", static_cast<long long>(sum), sums, ring);
}
