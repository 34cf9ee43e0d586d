#include "src/execution/gpu_channels/gpu_communicator.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <span>
#include <thread>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/peers.hpp"
#include "src/execution/gpu_channels/handshake.hpp"

namespace tessera {
namespace {

// Names the library that joins GPUs for a route, for people.
std::string_view library_of(Route route) {
  return route == Route::nccl ? "NCCL" : "UCX";
}

// A member's address, or a part of it.
struct AddressMessage {
  HandshakeHeader head;  // with the length of the whole address
  std::array<std::byte, 800> bytes{};
};

// Broadcasts the id from one process. Collective over the job.
void spread(Bootstrap& bootstrap, GpuCommunicatorId& id, bool is_mine) {
  std::array<std::int64_t, sizeof id.bytes / sizeof(std::int64_t)> numbers;
  static_assert(sizeof numbers == sizeof id.bytes);
  numbers.fill(std::numeric_limits<std::int64_t>::min());
  if (is_mine) std::memcpy(numbers.data(), id.bytes.data(), sizeof numbers);
  bootstrap.max_of_each(numbers);
  std::memcpy(id.bytes.data(), numbers.data(), sizeof numbers);
}

// True if two devices of this host are on one GPU, as their identities say. Collective over the
// job.
bool shares_gpus(Bootstrap& bootstrap, std::vector<std::uint64_t> const& identities) {
  // A process with fewer devices than others pads its list with zeros, which are not valid
  // identities.
  std::vector<std::int64_t> mine(
      static_cast<std::size_t>(bootstrap.max_of(std::ssize(identities))));
  std::ranges::transform(identities, mine.begin(), [](std::uint64_t identity) {
    return static_cast<std::int64_t>(2 * identity + 1);
  });
  auto const table = bootstrap.host_table(mine);
  std::vector<std::int64_t> all(table.begin(), table.end());
  std::erase(all, 0);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) != all.end();
}

}  // namespace

void CommunicatorRoute::join(GpuRouteChoice choice) {
  auto const asked = communicator_asked_for(choice);
  bool const is_free = choice == GpuRouteChoice::automatic;
  if (has_communicators() && (is_free || asked == Route::nccl)) return adopt_given();
  if (asked) return join_asked(choice, *asked);
  if (!is_free || !spans_hosts()) return;
  for (auto const route : {Route::nccl, Route::ucx_gpu})
    if (joins(route, try_unasked(route))) return;
}

void CommunicatorRoute::join_asked(GpuRouteChoice choice, Route route) {
  if (joins(route, try_route(route))) return;
  throw ConfigError(text("TESSERA_GPU_ROUTE=", to_string(choice),
                         " cannot join the devices: ", reason_without_communicator_));
}

// Notes how an attempt ended. Returns true if all devices have joined.
bool CommunicatorRoute::joins(Route route, std::string const& reason) {
  if (!reason.empty()) {
    reason_without_communicator_ +=
        text(reason_without_communicator_.empty() ? "" : "; ", library_of(route), ": ", reason);
    return false;
  }
  route_ = route;
  reason_without_communicator_.clear();
  return true;
}

// A collective over the job.
bool CommunicatorRoute::has_communicators() const {
  bool const mine = !tools_.communicators.of_devices.empty();
  if (!tools_.bootstrap.is_equal_on_all(mine ? 1 : 0))
    throw UsageError(text(tools_.communicators.option,
                          " are given on some processes only; give them on all or on none"));
  return mine;
}

// Joins by the program's own communicators. Collective over the job.
void CommunicatorRoute::adopt_given() {
  auto const& job = tools_.job;
  auto const& given = tools_.communicators.of_devices;
  auto const reason = reason_of([&] {
    if (given.size() != tools_.contexts.size())
      throw DeviceError(text(given.size(), " for ", counted(job.local_count(), "device")));
    auto const streams = prepare_communication_queues();
    keep(tools_.contexts.front()->queue->peers().adopt_communicator(
        given, job.first_local().value(), job.device_count(), streams));
  });
  auto const words = agreed(tools_.bootstrap, reason.data());
  if (!words.empty()) throw UsageError(text(tools_.communicators.option, ": ", words));
  route_ = Route::nccl;
}

bool CommunicatorRoute::spans_hosts() const {
  auto& bootstrap = tools_.bootstrap;
  return std::ssize(bootstrap.host_processes()) < bootstrap.process_count();
}

std::size_t CommunicatorRoute::local_index(DeviceId device) const {
  return static_cast<std::size_t>(tools_.job.local_index(device));
}

// Tries a route and returns the reason for its failure; empty if all have joined. Collective over
// the job.
std::string CommunicatorRoute::try_route(Route route) {
  if (auto words = agreed(tools_.bootstrap, reason_against(route)); !words.empty()) return words;
  auto words = route == Route::nccl ? join_nccl() : join_ucx();
  if (!words.empty()) leave();
  return words;
}

// Tries a route that was not requested: fails if the host's messages were forced to another route.
// Collective over the job; returns as try_route.
std::string CommunicatorRoute::try_unasked(Route route) {
  auto const asked = environment("TESSERA_ROUTE").value_or("ucx");
  bool const is_forced = route == Route::ucx_gpu && asked != "ucx";
  auto const reason = is_forced ? text("TESSERA_ROUTE asks for ", asked) : std::string();
  if (auto words = agreed(tools_.bootstrap, reason); !words.empty()) return words;
  return try_route(route);
}

// Returns the reason why this process cannot take the route; empty if it can. Collective over the
// job.
std::string CommunicatorRoute::reason_against(Route route) const {
  std::vector<std::uint64_t> identities;
  GpuCommunicatorTraits traits;
  auto const reason = reason_of([&] {
    auto& first = *tools_.contexts.front()->queue;
    for (auto* const context : tools_.contexts)
      identities.push_back(context->queue->peers().gpu_identity());
    traits =
        route == Route::nccl ? first.peers().communicator_traits() : ucx_communicator_traits(first);
  });
  bool const is_shared = shares_gpus(tools_.bootstrap, identities);
  if (!is_empty(reason)) return reason.data();
  if (!traits.exists) return traits.reason;
  if (is_shared && !traits.shares_gpus) return "several devices of this host are on one GPU";
  if (spans_hosts() && !traits.spans_hosts) return "these GPUs form communicators on one host only";
  return "";
}

// Makes the communication queues, with which the devices are members.
std::vector<Queue*> CommunicatorRoute::prepare_communication_queues() {
  std::vector<Queue*> streams;
  for (auto* const context : tools_.contexts) {
    context->communication_queue = context->queue->make_sibling();
    context->packed = context->queue->make_event();
    context->arrived = context->communication_queue->make_event();
    streams.push_back(context->communication_queue.get());
  }
  return streams;
}

void CommunicatorRoute::keep(std::vector<std::unique_ptr<GpuCommunicator>> groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) tools_.contexts[i]->group = std::move(groups[i]);
}

// Leaves the half-formed communicator; members that already joined would wait for ever.
void CommunicatorRoute::leave() {
  members_.clear();
  for (auto* const context : tools_.contexts) context->group.reset();
}

// Joins by NCCL. Collective over the job; returns as try_route.
std::string CommunicatorRoute::join_nccl() {
  auto const& job = tools_.job;
  auto& peers = tools_.contexts.front()->queue->peers();
  bool const is_first = job.self() == ProcessId{0};
  GpuCommunicatorId id;
  auto reason = reason_of([&] {
    if (is_first) id = peers.make_group_id(job.device_count());
  });
  if (auto words = agreed(tools_.bootstrap, reason.data()); !words.empty()) return words;
  spread(tools_.bootstrap, id, is_first);
  reason = reason_of([&] {
    auto const streams = prepare_communication_queues();
    keep(peers.join_communicator(id, job.first_local().value(), job.device_count(), streams));
  });
  auto words = agreed(tools_.bootstrap, reason.data());
  return words.empty() ? wait_until_joined() : words;
}

// Waits until all members have joined. All processes poll for a moment and then exchange their
// results, so a failure of one ends the wait of the others. Collective over the job; returns as
// try_route.
std::string CommunicatorRoute::wait_until_joined() {
  enum State : std::int64_t { joined, joining, failed };
  for (;;) {
    std::int64_t state = joining;
    auto const reason = reason_of([&] {
      auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (state == joining && std::chrono::steady_clock::now() < end) {
        auto const is_ready = [](QueueContext* context) { return context->group->is_ready(); };
        if (std::ranges::all_of(tools_.contexts, is_ready)) state = joined;
        std::this_thread::yield();
      }
    });
    if (!is_empty(reason)) state = failed;
    auto const worst = tools_.bootstrap.max_of(state);
    if (worst == joined) return "";
    if (worst == failed) return agreed(tools_.bootstrap, reason.data());
  }
}

// Makes the members of this process; `introduce` connects them when plans name them. Collective
// over the job; returns as try_route.
std::string CommunicatorRoute::join_ucx() {
  auto const reason = reason_of([&] {
    prepare_communication_queues();
    auto rank = tools_.job.first_local().value();
    for (auto* const context : tools_.contexts) {
      auto member =
          make_ucx_communicator(context->communication_queue, rank++, tools_.network.secret());
      members_.push_back(member.get());
      context->group = std::move(member);
    }
  });
  return agreed(tools_.bootstrap, reason.data());
}

// Sends all control messages before receiving the first, so that no cycle of waits can occur. No
// worker has messages under way meanwhile.
void CommunicatorRoute::introduce(CompiledStatement const& plan, StatementTag const& tag) {
  if (route_ != Route::ucx_gpu) return;
  std::vector<Pair> incoming;
  std::vector<Pair> outgoing;
  auto const visit = [&](Message const& message, Pair pair, std::vector<Pair>& pairs) {
    if (message.path == PathKind::communicator && introduced_.insert(pair).second)
      pairs.push_back(pair);
  };
  for (auto const& device : plan.devices)
    for (auto const* exchange : device.exchanges()) {
      for (auto const& message : exchange->receives)
        visit(message, {message.peer, device.device}, incoming);
      for (auto const& message : exchange->sends)
        visit(message, {device.device, message.peer}, outgoing);
    }
  if (incoming.empty() && outgoing.empty()) return;
  tools_.rest();
  for (auto const& pair : incoming) tell_address(pair, tag);
  for (auto const& pair : outgoing) hear_address(pair, tag);
}

void CommunicatorRoute::tell_address(Pair pair, StatementTag const& tag) {
  auto const [from, to] = pair;
  auto const address = members_[local_index(to)]->address();
  for (std::size_t at = 0; at < address.size();) {
    AddressMessage note{head_of(tag, std::ssize(address))};
    auto const count = std::min(note.bytes.size(), address.size() - at);
    std::memcpy(note.bytes.data(), address.data() + at, count);
    send_handshake(tools_.network, to, from, note);
    at += count;
  }
}

void CommunicatorRoute::hear_address(Pair pair, StatementTag const& tag) {
  auto const [from, to] = pair;
  std::vector<std::byte> address;
  std::size_t length = 0;
  do {
    auto const note = receive_handshake<AddressMessage>(tools_.network, to, from, tag);
    length = static_cast<std::size_t>(note.head.bytes);
    auto const count = std::min(note.bytes.size(), length - address.size());
    address.insert(address.end(), note.bytes.begin(),
                   note.bytes.begin() + static_cast<std::ptrdiff_t>(count));
  } while (address.size() < length);
  members_[local_index(from)]->connect(to.value(), address);
}

}  // namespace tessera
