#include "bootstrap.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tessera/base/assert.hpp"

#include "check.hpp"

namespace tessera::mpi {
namespace {

MPI_Comm duplicate(MPI_Comm original) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(original, &made), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

void free_communicator(MPI_Comm& communicator) {
  if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
}

/// True if MPI was not initialised before.
bool initialise(int& argc, char**& argv) {
  int initialised = 0;
  check(MPI_Initialized(&initialised), "MPI_Initialized");
  if (initialised != 0) return false;
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  return true;
}

}  // namespace

MpiBootstrap::MpiBootstrap(int& argc, char**& argv) : initialised_here_(initialise(argc, argv)) {
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  allows_threads_ = provided >= MPI_THREAD_FUNNELED;
  world_ = duplicate(MPI_COMM_WORLD);
  control_ = duplicate(world_);
  check(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(world_, &size_), "MPI_Comm_size");
  split_by_host();
}

void MpiBootstrap::split_by_host() {
  check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_),
        "MPI_Comm_split_type");
  check(MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  for (auto const rank : host_values(rank_)) on_host_.emplace_back(rank);
  bool const leads = on_host_.front() == self();
  check(MPI_Comm_split(world_, leads ? 0 : MPI_UNDEFINED, rank_, &leaders_), "MPI_Comm_split");
  if (leads) check(MPI_Comm_set_errhandler(leaders_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

std::string MpiBootstrap::host_name() const {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return {name.data(), static_cast<std::size_t>(length)};
}

std::int64_t MpiBootstrap::max_of(std::int64_t value) {
  std::int64_t most = value;
  check(MPI_Allreduce(&value, &most, 1, MPI_INT64_T, MPI_MAX, world_), "MPI_Allreduce");
  return most;
}

std::int64_t MpiBootstrap::sum_before(std::int64_t value) {
  std::int64_t sum = 0;
  check(MPI_Exscan(&value, &sum, 1, MPI_INT64_T, MPI_SUM, world_), "MPI_Exscan");
  return rank_ == 0 ? 0 : sum;  // MPI leaves it undefined on the first
}

std::vector<std::int64_t> MpiBootstrap::host_values(std::int64_t value) {
  int count = 0;
  check(MPI_Comm_size(host_, &count), "MPI_Comm_size");
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  check(MPI_Allgather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, host_),
        "MPI_Allgather");
  return values;
}

MpiBootstrap::Table MpiBootstrap::gather_on_leaders(std::int64_t value) const {
  struct Entry {
    std::int64_t rank, value;
  };
  Entry const mine{rank_, value};
  std::vector<Entry> of_host(on_host_.size());
  check(MPI_Gather(&mine, 2, MPI_INT64_T, of_host.data(), 2, MPI_INT64_T, 0, host_), "MPI_Gather");
  if (leaders_ == MPI_COMM_NULL) return {};

  int hosts = 0;
  check(MPI_Comm_size(leaders_, &hosts), "MPI_Comm_size");
  int const numbers = static_cast<int>(2 * of_host.size());
  std::vector<int> counts(static_cast<std::size_t>(hosts));
  check(MPI_Allgather(&numbers, 1, MPI_INT, counts.data(), 1, MPI_INT, leaders_), "MPI_Allgather");
  std::vector<int> places(counts.size());
  for (std::size_t i = 1; i < counts.size(); ++i) places[i] = places[i - 1] + counts[i - 1];
  std::vector<Entry> all(static_cast<std::size_t>(size_));
  check(MPI_Allgatherv(of_host.data(), numbers, MPI_INT64_T, all.data(), counts.data(),
                       places.data(), MPI_INT64_T, leaders_),
        "MPI_Allgatherv");

  Table table(all.size());
  for (auto const& entry : all) table[static_cast<std::size_t>(entry.rank)] = entry.value;
  return table;
}

std::span<std::int64_t const> MpiBootstrap::share_on_host(Table const& table) {
  auto const count = static_cast<std::size_t>(size_);
  auto const size_bytes = static_cast<std::int64_t>(count * sizeof(std::int64_t));
  SegmentTicket ticket;
  Segment segment;
  std::string why_not;
  if (leaders_ != MPI_COMM_NULL) {
    segment = Segment::make(size_bytes);
    std::memcpy(segment.data(), table.data(), static_cast<std::size_t>(size_bytes));
    ticket = segment.ticket();
  }
  check(MPI_Bcast(&ticket, sizeof ticket, MPI_BYTE, 0, host_), "MPI_Bcast");
  if (!segment) segment = Segment::map(ticket, Segment::Access::read, why_not);

  int const mapped = segment ? 1 : 0;
  int all_mapped = 0;
  check(MPI_Allreduce(&mapped, &all_mapped, 1, MPI_INT, MPI_MIN, host_), "MPI_Allreduce");
  if (all_mapped == 0) return {};
  segment.close_descriptor();
  shared_tables_.push_back(std::move(segment));
  return {reinterpret_cast<std::int64_t const*>(shared_tables_.back().data()), count};
}

std::span<std::int64_t const> MpiBootstrap::table_of(std::int64_t value) {
  auto table = gather_on_leaders(value);
  auto const shared = share_on_host(table);
  if (!shared.empty()) return shared;
  table.resize(static_cast<std::size_t>(size_));
  check(MPI_Bcast(table.data(), size_, MPI_INT64_T, 0, host_), "MPI_Bcast");
  private_tables_.push_back(std::move(table));
  return private_tables_.back();
}

void MpiBootstrap::barrier() {
  check(MPI_Barrier(world_), "MPI_Barrier");
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
                  static_cast<int>(to.value()), 0, control_, &message.request),
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
    check(MPI_Iprobe(MPI_ANY_SOURCE, 0, control_, &there, &status), "MPI_Iprobe");
    if (there == 0) return;
    int size = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
    std::array<std::byte, max_control_bytes> bytes;
    // So short a message has come whole when it is seen: this does not wait.
    check(MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, 0, control_, MPI_STATUS_IGNORE),
          "MPI_Recv");
    handler(ProcessId(status.MPI_SOURCE), std::span(bytes).first(static_cast<std::size_t>(size)));
  }
}

void MpiBootstrap::abort_job() {
  MPI_Abort(world_, 1);
  std::_Exit(1);
}

void MpiBootstrap::finalize() {
  if (!std::exchange(open_, false)) return;
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised != 0) return;
  for (auto& message : sent_) MPI_Wait(&message->request, MPI_STATUS_IGNORE);
  for (auto* communicator : {&leaders_, &host_, &control_, &world_})
    free_communicator(*communicator);
  if (initialised_here_) check(MPI_Finalize(), "MPI_Finalize");
}

}  // namespace tessera::mpi

namespace tessera {

std::unique_ptr<Bootstrap> make_mpi_bootstrap(int& argc, char**& argv) {
  return std::make_unique<mpi::MpiBootstrap>(argc, argv);
}

}  // namespace tessera
