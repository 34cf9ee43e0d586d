#include "src/job/mpi/bootstrap.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"
#include "tessera/job/mpi_communicator.hpp"

#include "src/base/text.hpp"
#include "src/base/yielder.hpp"
#include "src/job/launch.hpp"
#include "src/job/mpi/blocking_watch.hpp"
#include "src/job/mpi/check.hpp"
#include "src/job/mpi/communicators.hpp"
#include "src/job/mpi/mpi.hpp"

namespace tessera::mpi {
namespace {

/// Makes the system end this process by a signal if it still runs after that time.
void end_anyway_after(unsigned seconds) {
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  ::alarm(seconds);
}

}  // namespace

MpiBootstrap::MpiBootstrap(int& argc, char**& argv) : initialised_here_(initialise(argc, argv)) {
  start_on(MPI_COMM_WORLD);
}

MpiBootstrap::MpiBootstrap(MPI_Comm communicator) {
  start_on(checked(communicator));
}

void MpiBootstrap::start_on(MPI_Comm communicator) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  allows_threads_ = provided >= MPI_THREAD_FUNNELED;
  check(MPI_Comm_rank(communicator, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(communicator, &size_), "MPI_Comm_size");
  if (size_ > 1) {
    start_watch_.emplace(progress_in(communicator), size_,
                         [own = launch_facts()] { return launched_processes(own); });
    meet(communicator);
  }
  watched([&] { world_ = duplicate(communicator); });
  split_by_host();
}

// Most of what keeps a process away lies before its Runtime: here nothing blocks yet.
void MpiBootstrap::meet(MPI_Comm communicator) {
  start_watch_->next_step();
  complete(communicator, "MPI_Ibarrier",
           [&](MPI_Request* request) { return MPI_Ibarrier(communicator, request); });
}

void MpiBootstrap::watched(std::function<void()> const& call) {
  if (!start_watch_) return call();
  start_watch_->next_step();
  BlockingWatch const watch(*start_watch_, allows_threads_);
  call();
}

void MpiBootstrap::complete(MPI_Comm communicator, char const* name,
                            std::function<int(MPI_Request*)> const& begin) {
  constexpr int polls_before_yield = 200;
  MPI_Request request = MPI_REQUEST_NULL;
  Yielder yielder;
  check(begin(&request), name);
  for (int poll = 0;; ++poll) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), name);
    if (done != 0) return;
    if (poll < polls_before_yield) continue;
    if (poll == polls_before_yield && start_watch_) start_watch_->begin_wait();
    (void)yielder.yield_or_sleep();
    if (start_watch_ && start_watch_->is_time_to_look()) look_for_others(communicator);
    poll = polls_before_yield;  // it never overflows
  }
}

void MpiBootstrap::look_for_others(MPI_Comm communicator) {
  auto const failure = start_watch_->look([&](std::int64_t number) {
    return translated(static_cast<int>(number), MPI_COMM_WORLD, communicator);
  });
  if (failure)
    throw PeerFailed(text(*failure, ", while process ", rank_,
                          " waits for all processes to make their Runtime"));
}

void MpiBootstrap::next_step() {
  if (start_watch_) start_watch_->next_step();
}

void MpiBootstrap::reduce(std::span<std::int64_t> values, MPI_Op operation, MPI_Comm communicator) {
  complete(world_, "MPI_Iallreduce", [&](MPI_Request* request) {
    return MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T,
                          operation, communicator, request);
  });
}

void MpiBootstrap::gather(std::span<std::int64_t const> values, std::int64_t* table) {
  auto const numbers = static_cast<int>(values.size());
  complete(world_, "MPI_Igather", [&](MPI_Request* request) {
    return MPI_Igather(values.data(), numbers, MPI_INT64_T, table, numbers, MPI_INT64_T, 0, host_,
                       request);
  });
}

void MpiBootstrap::broadcast(std::span<std::byte> bytes) {
  complete(world_, "MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, host_, request);
  });
}

void MpiBootstrap::split_by_host() {
  watched([&] {
    check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_),
          "MPI_Comm_split_type");
  });
  check(MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(host_, &host_rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(host_, &host_size_), "MPI_Comm_size");

  // A ProcessId is its number and nothing else, so the table of ranks is one of processes.
  static_assert(sizeof(ProcessId) == sizeof(std::int64_t));
  static_assert(std::is_standard_layout_v<ProcessId>);
  std::int64_t const rank = rank_;
  auto const ranks = host_table({&rank, 1});
  on_host_ = {reinterpret_cast<ProcessId const*>(ranks.data()), ranks.size()};
}

void MpiBootstrap::join_leaders() {
  if (has_leaders_) return;
  has_leaders_ = true;
  watched([&] {
    check(MPI_Comm_split(world_, leads_host() ? 0 : MPI_UNDEFINED, rank_, &leaders_),
          "MPI_Comm_split");
  });
  if (leads_host())
    check(MPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

std::string MpiBootstrap::host_name() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

void MpiBootstrap::max_of_each(std::span<std::int64_t> values) {
  next_step();
  reduce(values, MPI_MAX, world_);
}

void MpiBootstrap::sum_over_host(std::span<std::int64_t> values) {
  next_step();
  reduce(values, MPI_SUM, host_);
}

void MpiBootstrap::or_over_host(std::span<std::int64_t> values) {
  next_step();
  reduce(values, MPI_BOR, host_);
}

std::int64_t MpiBootstrap::sum_before(std::int64_t value) {
  std::int64_t sum = 0;
  next_step();
  complete(world_, "MPI_Iexscan", [&](MPI_Request* request) {
    return MPI_Iexscan(&value, &sum, 1, MPI_INT64_T, MPI_SUM, world_, request);
  });
  return rank_ == 0 ? 0 : sum;  // MPI leaves it undefined on the first
}

std::span<std::int64_t const> MpiBootstrap::host_table(std::span<std::int64_t const> values) {
  auto const count = static_cast<std::size_t>(host_size_) * values.size();
  Table table(leads_host() ? count : 0);
  next_step();
  gather(values, table.data());
  return share_on_host(std::move(table), count);
}

MpiBootstrap::Table MpiBootstrap::gather_on_leaders(std::int64_t value) {
  struct Entry {
    std::int64_t rank, value;
  };
  static_assert(sizeof(Entry) == 2 * sizeof(std::int64_t));
  std::array<std::int64_t, 2> const mine{rank_, value};
  Table of_host(leads_host() ? 2 * on_host_.size() : 0);
  gather(mine, of_host.data());
  if (!leads_host()) return {};

  int hosts = 0;
  check(MPI_Comm_size(leaders_, &hosts), "MPI_Comm_size");
  int const numbers = static_cast<int>(of_host.size());
  std::vector<int> counts(static_cast<std::size_t>(hosts));
  complete(world_, "MPI_Iallgather", [&](MPI_Request* request) {
    return MPI_Iallgather(&numbers, 1, MPI_INT, counts.data(), 1, MPI_INT, leaders_, request);
  });
  std::vector<int> places(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  std::vector<Entry> all(static_cast<std::size_t>(size_));
  complete(world_, "MPI_Iallgatherv", [&](MPI_Request* request) {
    return MPI_Iallgatherv(of_host.data(), numbers, MPI_INT64_T, all.data(), counts.data(),
                           places.data(), MPI_INT64_T, leaders_, request);
  });

  Table table(all.size());
  for (auto const& entry : all) table[static_cast<std::size_t>(entry.rank)] = entry.value;
  return table;
}

std::span<std::int64_t const> MpiBootstrap::map_on_host(Table const& table, std::size_t count) {
  auto const size_bytes = static_cast<std::int64_t>(count * sizeof(std::int64_t));
  SegmentTicket ticket;
  Segment segment;
  std::string reason;
  if (leads_host()) {
    segment = Segment::make(size_bytes);
    std::memcpy(segment.data(), table.data(), static_cast<std::size_t>(size_bytes));
    ticket = segment.ticket();
  }
  broadcast(std::as_writable_bytes(std::span(&ticket, 1)));
  if (!segment) segment = Segment::map(ticket, Segment::MapMode::read, reason);

  std::int64_t all_mapped = segment ? 1 : 0;
  reduce({&all_mapped, 1}, MPI_MIN, host_);
  if (all_mapped == 0) return {};
  segment.close_descriptor();
  shared_tables_.push_back(std::move(segment));
  return {reinterpret_cast<std::int64_t const*>(shared_tables_.back().data()), count};
}

std::span<std::int64_t const> MpiBootstrap::share_on_host(Table table, std::size_t count) {
  if (host_size_ > 1) {
    auto const shared = map_on_host(table, count);
    if (!shared.empty()) return shared;
  }
  table.resize(count);
  broadcast(std::as_writable_bytes(std::span(table)));
  private_tables_.push_back(std::move(table));
  return private_tables_.back();
}

std::span<std::int64_t const> MpiBootstrap::table_of(std::int64_t value) {
  join_leaders();
  next_step();
  return share_on_host(gather_on_leaders(value), static_cast<std::size_t>(size_));
}

void MpiBootstrap::barrier() {
  next_step();
  complete(world_, "MPI_Ibarrier",
           [&](MPI_Request* request) { return MPI_Ibarrier(world_, request); });
}

void MpiBootstrap::begin_barrier() {
  check(MPI_Ibarrier(world_, &arrival_), "MPI_Ibarrier");
}

bool MpiBootstrap::barrier_done() {
  int done = 0;
  check(MPI_Test(&arrival_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void MpiBootstrap::send_control(ProcessId to, std::span<std::byte const> bytes) {
  TESSERA_ASSERT(bytes.size() <= static_cast<std::size_t>(max_control_bytes), bytes.size());
  complete_sent();
  auto& message = *sent_.emplace_back(std::make_unique<Outgoing>());
  std::copy(bytes.begin(), bytes.end(), message.bytes.begin());
  check(MPI_Isend(message.bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE,
                  static_cast<int>(to.value()), control_tag, world_, &message.request),
        "MPI_Isend");
}

void MpiBootstrap::complete_sent() {
  std::erase_if(sent_, [](auto const& message) {
    int done = 0;
    check(MPI_Test(&message->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  });
}

void MpiBootstrap::poll_control(
    std::function<void(ProcessId, std::span<std::byte const>)> const& handler) {
  complete_sent();
  while (true) {
    int there = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, control_tag, world_, &there, &status), "MPI_Iprobe");
    if (there == 0) return;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    std::array<std::byte, max_control_bytes> bytes;
    // Such a short message has arrived completely when the probe sees it, so this does not wait.
    check(MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, control_tag, world_,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
    handler(ProcessId(status.MPI_SOURCE), std::span(bytes).first(static_cast<std::size_t>(size)));
  }
}

void MpiBootstrap::abort_job() {
  // Otherwise an unreachable launcher could block the abort.
  end_anyway_after(10);
  MPI_Abort(world_, 1);
  std::_Exit(1);
}

void MpiBootstrap::finalize() {
  if (!std::exchange(open_, false)) return;
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) return;
  for (auto& message : sent_) MPI_Wait(&message->request, MPI_STATUS_IGNORE);
  for (auto* communicator : {&leaders_, &host_, &world_}) free_communicator(*communicator);
  if (initialised_here_) check(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace tessera::mpi

namespace tessera {

std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& argc, char**& argv) {
  return std::make_unique<mpi::MpiBootstrap>(argc, argv);
}

std::unique_ptr<Bootstrap> make_mpi_bootstrap(MpiCommunicator const& communicator) {
  return std::make_unique<mpi::MpiBootstrap>(communicator.handle());
}

}  // namespace tessera
