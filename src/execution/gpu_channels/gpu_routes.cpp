#include "src/execution/gpu_channels/gpu_routes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/peers.hpp"
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/handshake.hpp"

namespace tessera {
namespace {

// The handshake of a GPU peer channel, in this order; the header has the length of its slots.

// By the receiver.
struct Offer {
  HandshakeHeader head;
  Reason reason{};
  GpuHandle memory;
  std::array<GpuHandle, 2> drained;
};

// By the sender.
struct Answer {
  HandshakeHeader head;
  Reason reason{};
  std::array<GpuHandle, 2> filled;
};

// By the receiver.
struct Verdict {
  HandshakeHeader head;
  Reason reason{};
};

// Receives a handshake message for a channel with slots of that length. Throws: Mismatch if it is
// about something else.
template <class Note>
Note receive_handshake(Network& network, DeviceId from, DeviceId to, StatementTag const& tag,
                       std::int64_t slot_bytes) {
  auto const note = receive_handshake<Note>(network, from, to, tag);
  if (note.head.bytes == slot_bytes) return note;
  throw different_programs(
      text("device ", from, " has messages of other lengths than device ", to, " in ", tag, ":"));
}

void put_slots(GpuPeerChannel& peer_channel, std::int64_t slot_bytes,
               std::shared_ptr<DeviceBuffer> memory) {
  peer_channel.route = Route::ipc;
  peer_channel.slot_bytes = slot_bytes;
  peer_channel.slots = {memory->data(), memory->data() + slot_bytes};
  peer_channel.keeps = std::move(memory);
}

}  // namespace

GpuRoutes::GpuRoutes(GpuRouteTools tools)
    : tools_(std::move(tools)),
      are_needed_(!tools_.contexts.front()->queue->traits().host_reaches_memory) {
  if (are_needed_) choose();
}

void GpuRoutes::choose() {
  choice_ = gpu_route_asked_for();
  if (tools_.job.process_count() == 1) return;
  if (!tools_.bootstrap.is_equal_on_all(static_cast<std::int64_t>(choice_)))
    throw ConfigError(
        "TESSERA_GPU_ROUTE is not the same on all processes; mpirun -x TESSERA_GPU_ROUTE passes it "
        "on to other hosts");
  group_.join(choice_);
}

GpuRoutes::~GpuRoutes() = default;

QueueContext& GpuRoutes::context(DeviceId device) const {
  return *tools_.contexts[static_cast<std::size_t>(tools_.job.local_index(device))];
}

std::optional<Route> GpuRoutes::route_between(DeviceId from, DeviceId to) const {
  auto const& job = tools_.job;
  GpuPair pair;
  pair.is_of_one_process = job.is_local(from) && job.is_local(to);
  pair.is_of_one_host = is_near(job.process_of(job.is_local(from) ? to : from));
  pair.can_share_memory =
      tools_.network.may_share_memory() && !without_peer_channel_.contains({from, to});
  return choose_gpu_route(choice_, group_.route(), pair);
}

bool GpuRoutes::is_near(ProcessId process) const {
  return std::ranges::find(tools_.bootstrap.host_processes(), process) !=
         tools_.bootstrap.host_processes().end();
}

void GpuRoutes::prepare(CompiledStatement& plan, StatementTag const& tag) {
  if (!are_needed_) return;
  open_peer_channels(plan, tag);
  for (auto& device : plan.devices) {
    for (auto* exchange : device.exchanges()) {
      for (auto& message : exchange->sends) choose_path(message, device.device, message.peer);
      for (auto& message : exchange->receives) choose_path(message, message.peer, device.device);
    }
    make_space(context(device.device), device);
  }
  group_.introduce(plan, tag);
}

bool GpuRoutes::needs_peer_channel(Pair pair, std::int64_t bytes) const {
  auto const found = peer_channels_.find(pair);
  return found == peer_channels_.end() || found->second->slot_bytes < bytes;
}

void GpuRoutes::open_peer_channels(CompiledStatement const& plan, StatementTag const& tag) {
  std::vector<Opening> incoming;
  std::vector<Opening> outgoing;
  auto const visit = [&](Message const& message, Pair pair, std::vector<Opening>& openings) {
    auto const route = route_between(pair.first, pair.second);
    if (route != Route::peer && route != Route::ipc) return;
    if (!needs_peer_channel(pair, message.bytes)) return;
    if (route == Route::peer)
      open_local_peer_channel(pair, message.bytes);
    else
      add_opening(openings, {pair, message.sender, shared_slot_bytes(pair, message.bytes), {}, ""});
  };
  for (auto const& device : plan.devices)
    for (auto const* exchange : device.exchanges()) {
      for (auto const& message : exchange->sends)
        visit(message, {device.device, message.peer}, outgoing);
      for (auto const& message : exchange->receives)
        visit(message, {message.peer, device.device}, incoming);
    }
  if (!incoming.empty() || !outgoing.empty()) open_remote_peer_channels(incoming, outgoing, tag);
}

// Two messages of a plan may take one channel.
void GpuRoutes::add_opening(std::vector<Opening>& openings, Opening&& opening) {
  auto const found = std::ranges::find(openings, opening.pair, &Opening::pair);
  if (found == openings.end())
    openings.push_back(std::move(opening));
  else
    found->slot_bytes = std::max(found->slot_bytes, opening.slot_bytes);
}

std::int64_t GpuRoutes::shared_slot_bytes(Pair pair, std::int64_t bytes) const {
  auto const found = peer_channels_.find(pair);
  return grown_slot_bytes(found == peer_channels_.end() ? 0 : found->second->slot_bytes, bytes);
}

// The receiver owns new memory at first: the sender waits.
void GpuRoutes::open_local_peer_channel(Pair pair, std::int64_t bytes) {
  auto const& from = context(pair.first).queue;
  auto const& to = context(pair.second).queue;
  tools_.rest();
  GpuPeerChannel peer_channel;
  peer_channel.is_direct = from->stores_to(*to);
  peer_channel.slot_bytes = bytes;
  auto const memory = std::make_shared<std::array<DeviceMemory, 2>>();
  peer_channel.keeps = memory;
  for (std::size_t which = 0; which < peer_channel.slots.size(); ++which) {
    (*memory)[which] = DeviceMemory(bytes, to);
    peer_channel.slots[which] = (*memory)[which].data();
    peer_channel.filled[which] = from->make_event();
    peer_channel.drained[which] = to->make_event();
    to->record(*peer_channel.drained[which]);
  }
  put_in_place(pair, std::move(peer_channel));
}

// Plans point to the channel, so it keeps its address.
void GpuRoutes::put_in_place(Pair pair, GpuPeerChannel&& peer_channel) {
  auto& place = peer_channels_[pair];
  if (place == nullptr) place = std::make_unique<GpuPeerChannel>();
  *place = std::move(peer_channel);
}

// Opens channels in four steps that every process goes through, so that none waits for a later step
// of another. A channel that cannot grow stays for the plans that use it; later plans do not use
// it.
void GpuRoutes::open_remote_peer_channels(std::vector<Opening>& incoming,
                                          std::vector<Opening>& outgoing, StatementTag const& tag) {
  tools_.rest();
  for (auto& opening : incoming) offer(opening, tag);
  for (auto& opening : outgoing) accept(opening, tag);
  for (auto& opening : incoming) confirm(opening, tag);
  for (auto& opening : outgoing)
    opening.reason = receive_handshake<Verdict>(tools_.network, opening.pair.second,
                                                opening.pair.first, tag, opening.slot_bytes)
                         .reason.data();
  for (auto& opening : incoming) keep(opening);
  for (auto& opening : outgoing) keep(opening);
}

void GpuRoutes::offer(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto& peer_channel = opening.peer_channel;
  Offer note;
  note.head = head_of(tag, opening.slot_bytes);
  note.reason = reason_of([&] {
    auto& peers = context(opening.pair.second).queue->peers();
    put_slots(peer_channel, opening.slot_bytes,
              peers.share_memory(2 * opening.slot_bytes, note.memory));
    for (std::size_t which = 0; which < 2; ++which)
      peer_channel.drained[which] = peers.share_event(note.drained[which]);
  });
  send_handshake(tools_.network, to, from, note);
}

void GpuRoutes::accept(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto const offered = receive_handshake<Offer>(tools_.network, to, from, tag, opening.slot_bytes);
  auto& peer_channel = opening.peer_channel;
  Answer note;
  note.head = offered.head;
  note.reason = offered.reason;
  if (is_empty(offered.reason))
    note.reason = reason_of([&] {
      // Other routes allow a sender to be further ahead than a GPU peer channel has slots.
      if (opening.sender->end().doorbell != nullptr)
        throw DeviceError(text("their messages go by ", opening.sender->end().route));
      auto& peers = context(opening.pair.first).queue->peers();
      auto memory = peers.open_memory(offered.memory, 2 * opening.slot_bytes);
      peer_channel.is_direct = peers.stores_to(*memory);
      put_slots(peer_channel, opening.slot_bytes, std::move(memory));
      for (std::size_t which = 0; which < 2; ++which) {
        peer_channel.drained[which] = peers.open_event(offered.drained[which]);
        peer_channel.filled[which] = peers.share_event(note.filled[which]);
      }
    });
  // Closes opened memory before the other end learns that it may free it.
  if (!is_empty(note.reason)) opening.peer_channel = {};
  send_handshake(tools_.network, from, to, note);
}

void GpuRoutes::confirm(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto const answer = receive_handshake<Answer>(tools_.network, from, to, tag, opening.slot_bytes);
  Verdict note{answer.head, answer.reason};
  if (is_empty(answer.reason))
    note.reason = reason_of([&] {
      auto& peers = context(opening.pair.second).queue->peers();
      for (std::size_t which = 0; which < 2; ++which)
        opening.peer_channel.filled[which] = peers.open_event(answer.filled[which]);
    });
  opening.reason = note.reason.data();
  send_handshake(tools_.network, to, from, note);
}

// Memory and events that the other end may still have open are kept until the end of the job.
void GpuRoutes::keep(Opening& opening) {
  if (opening.reason.empty()) {
    if (auto const found = peer_channels_.find(opening.pair); found != peer_channels_.end())
      earlier_.emplace_back(opening.pair, std::move(*found->second));
    put_in_place(opening.pair, std::move(opening.peer_channel));
    return;
  }
  earlier_.emplace_back(opening.pair, std::move(opening.peer_channel));
  without_peer_channel_.insert(opening.pair);
  log_warning_once(
      text("GPUs of two processes of this host cannot reach each other's memory, and "
           "send through the host's: ",
           opening.reason));
}

void GpuRoutes::choose_path(Message& message, DeviceId from, DeviceId to) {
  auto const route = route_between(from, to);
  message.gpu_route = route;
  message.peer_channel = nullptr;
  if (route == Route::peer || route == Route::ipc) {
    message.path = PathKind::peer;
    message.peer_channel = peer_channels_.at({from, to}).get();
    return;
  }
  message.path = route ? PathKind::communicator : PathKind::staged;
  bool const is_asked_for = choice_ == GpuRouteChoice::host || !tools_.network.may_share_memory();
  if (route || is_asked_for || without_peer_channel_.contains({from, to})) return;
  log_warning_once(text("GPUs of several hosts send through the memory of the hosts",
                        group_.reason_without_communicator().empty() ? "" : "; ",
                        group_.reason_without_communicator()));
}

void GpuRoutes::make_space(QueueContext& context, DevicePlan& plan) {
  auto const space = lay_out_messages(plan);
  bool const has_staging =
      context.staging != nullptr && space.on_host <= context.staging->size_bytes();
  bool const needs_staging = space.on_host > 0 && !has_staging;
  bool const has_space =
      context.messages != nullptr && space.on_gpu <= context.messages->size_bytes();
  if ((has_space || space.on_gpu == 0) && !needs_staging) return;
  tools_.rest();
  if (!has_space) {
    context.messages.reset();
    context.messages = context.queue->peers().make_plain_memory(space.on_gpu);
  }
  if (needs_staging) context.staging = context.queue->make_pinned(space.on_host);
}

void GpuRoutes::release() noexcept {
  auto const close = [&](Pair pair, GpuPeerChannel& peer_channel) {
    if (peer_channel.route != Route::ipc) return;
    if (tools_.job.is_local(pair.first)) {
      peer_channel.keeps.reset();
      peer_channel.drained = {};
    } else {
      peer_channel.filled = {};
    }
  };
  for (auto& [pair, peer_channel] : peer_channels_) close(pair, *peer_channel);
  for (auto& [pair, peer_channel] : earlier_) close(pair, peer_channel);
}

void GpuRoutes::abandon() noexcept {
  for (auto* const context : tools_.contexts)
    if (context->group != nullptr) context->group->abandon();
}

Route route_of(Message const& message) {
  if (message.gpu_route) return *message.gpu_route;
  return message.sender != nullptr ? message.sender->end().route : message.receiver->end().route;
}

void add_bytes(RouteBytes& bytes, CompiledStatement const& plan, std::int64_t times) {
  for (auto const& device : plan.devices)
    for (auto const* exchange : device.exchanges())
      for (auto const& message : exchange->sends)
        bytes[static_cast<std::size_t>(route_of(message))] += times * message.bytes;
}

}  // namespace tessera
