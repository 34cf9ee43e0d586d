#include "src/execution/gpu_channels/gpu_routes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/environment.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/handshake.hpp"

namespace tessera {
namespace {

// The handshake of a GPU peer channel, in this order; the header has the length of its slots.

// By the receiver.
struct Offer {
  NoteHead head;
  Reason why_not{};
  GpuHandle memory;
  std::array<GpuHandle, 2> drained;
};

// By the sender.
struct Answer {
  NoteHead head;
  Reason why_not{};
  std::array<GpuHandle, 2> filled;
};

// By the receiver.
struct Verdict {
  NoteHead head;
  Reason why_not{};
};

// Receives a handshake message for a channel with slots of that length. Throws: Mismatch if it is
// about something else.
template <class Note>
Note hear(Network& network, DeviceId from, DeviceId to, StatementTag const& tag,
          std::int64_t slot_bytes) {
  auto const note = hear<Note>(network, from, to, tag);
  if (note.head.bytes == slot_bytes) return note;
  throw Mismatch(text("device ", from, " has messages of other lengths than device ", to, " in ",
                      tag,
                      ": the processes run different programs; every process must run the "
                      "same statements in the same order"));
}

void put_slots(GpuLane& lane, std::int64_t slot_bytes, std::shared_ptr<GpuRegion> memory) {
  lane.route = Route::ipc;
  lane.slot_bytes = slot_bytes;
  lane.slots = {memory->data(), memory->data() + slot_bytes};
  lane.keeps = std::move(memory);
}

}  // namespace

GpuRoutes::GpuRoutes(GpuRouteTools tools) : tools_(std::move(tools)) {
  std::string mistake;
  try {
    choice_ = gpu_route_choice(environment_choice("TESSERA_GPU_ROUTE", gpu_route_words()));
  } catch (ConfigError const& error) {
    mistake = error.what();
  }
  if (auto const words = agreed(tools_.bootstrap, mistake); !words.empty())
    throw ConfigError(mistake.empty() ? text("TESSERA_GPU_ROUTE: ", words) : words);
  if (tools_.job.process_count() == 1) return;
  if (!is_equal_on_all(tools_.bootstrap, static_cast<std::int64_t>(choice_)))
    throw ConfigError(
        "TESSERA_GPU_ROUTE is not the same on all processes; mpirun -x TESSERA_GPU_ROUTE passes it "
        "on to other hosts");
  group_.join(choice_);
}

GpuRoutes::~GpuRoutes() = default;

GpuSide& GpuRoutes::side(DeviceId device) const {
  return *tools_.sides[static_cast<std::size_t>(tools_.job.local_index(device))];
}

std::optional<Route> GpuRoutes::route_between(DeviceId from, DeviceId to) const {
  auto const& job = tools_.job;
  GpuPair pair;
  pair.is_of_one_process = job.is_local(from) && job.is_local(to);
  pair.is_of_one_host = is_near(job.process_of(job.is_local(from) ? to : from));
  pair.can_share_memory = tools_.network.may_share_memory() && !without_lane_.contains({from, to});
  return choose_gpu_route(choice_, group_.route(), pair);
}

bool GpuRoutes::is_near(ProcessId process) const {
  return std::ranges::find(tools_.bootstrap.host_processes(), process) !=
         tools_.bootstrap.host_processes().end();
}

void GpuRoutes::prepare(CompiledStatement& plan, StatementTag const& tag) {
  open_lanes(plan, tag);
  for (auto& device : plan.devices) {
    for (auto& message : device.sends) choose_path(message, device.device, message.peer);
    for (auto& message : device.receives) choose_path(message, message.peer, device.device);
    make_room(side(device.device), device);
  }
  group_.introduce(plan, tag);
}

bool GpuRoutes::needs_lane(Pair pair, std::int64_t bytes) const {
  auto const found = lanes_.find(pair);
  return found == lanes_.end() || found->second->slot_bytes < bytes;
}

void GpuRoutes::open_lanes(CompiledStatement const& plan, StatementTag const& tag) {
  std::vector<Opening> incoming;
  std::vector<Opening> outgoing;
  auto const visit = [&](Message const& message, Pair pair, std::vector<Opening>& openings) {
    auto const route = route_between(pair.first, pair.second);
    if (route != Route::peer && route != Route::ipc) return;
    if (!needs_lane(pair, message.bytes)) return;
    if (route == Route::peer)
      open_local_lane(pair, message.bytes);
    else
      openings.push_back({pair, message.sender, shared_slot_bytes(pair, message.bytes), {}, ""});
  };
  for (auto const& device : plan.devices) {
    for (auto const& message : device.sends)
      visit(message, {device.device, message.peer}, outgoing);
    for (auto const& message : device.receives)
      visit(message, {message.peer, device.device}, incoming);
  }
  if (!incoming.empty() || !outgoing.empty()) open_remote_lanes(incoming, outgoing, tag);
}

std::int64_t GpuRoutes::shared_slot_bytes(Pair pair, std::int64_t bytes) const {
  auto const found = lanes_.find(pair);
  return grown_slot_bytes(found == lanes_.end() ? 0 : found->second->slot_bytes, bytes);
}

// The receiver owns new memory at first: the sender waits.
void GpuRoutes::open_local_lane(Pair pair, std::int64_t bytes) {
  auto const& from = side(pair.first).stream;
  auto const& to = side(pair.second).stream;
  tools_.rest();
  GpuLane lane;
  lane.is_direct = from->stores_to(*to);
  lane.slot_bytes = bytes;
  auto const memory = std::make_shared<std::array<DeviceMemory, 2>>();
  lane.keeps = memory;
  for (std::size_t which = 0; which < lane.slots.size(); ++which) {
    (*memory)[which] = DeviceMemory(bytes, to);
    lane.slots[which] = (*memory)[which].data();
    lane.filled[which] = from->make_event();
    lane.drained[which] = to->make_event();
    to->record(*lane.drained[which]);
  }
  put_in_place(pair, std::move(lane));
}

// Plans point to the channel, so it keeps its address.
void GpuRoutes::put_in_place(Pair pair, GpuLane&& lane) {
  auto& place = lanes_[pair];
  if (place == nullptr) place = std::make_unique<GpuLane>();
  *place = std::move(lane);
}

// Every process goes through the same four steps, so that none waits for a later step of another. A
// channel that cannot grow stays for the plans that use it; later plans do not use it.
void GpuRoutes::open_remote_lanes(std::vector<Opening>& incoming, std::vector<Opening>& outgoing,
                                  StatementTag const& tag) {
  tools_.rest();
  for (auto& opening : incoming) offer(opening, tag);
  for (auto& opening : outgoing) accept(opening, tag);
  for (auto& opening : incoming) confirm(opening, tag);
  for (auto& opening : outgoing)
    opening.why_not = hear<Verdict>(tools_.network, opening.pair.second, opening.pair.first, tag,
                                    opening.slot_bytes)
                          .why_not.data();
  for (auto& opening : incoming) keep(opening);
  for (auto& opening : outgoing) keep(opening);
}

void GpuRoutes::offer(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto& lane = opening.lane;
  Offer note;
  note.head = head_of(tag, opening.slot_bytes);
  note.why_not = trouble_of([&] {
    auto& peers = side(opening.pair.second).stream->peers();
    put_slots(lane, opening.slot_bytes, peers.share_memory(2 * opening.slot_bytes, note.memory));
    for (std::size_t which = 0; which < 2; ++which)
      lane.drained[which] = peers.share_event(note.drained[which]);
  });
  tell(tools_.network, to, from, note);
}

void GpuRoutes::accept(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto const offered = hear<Offer>(tools_.network, to, from, tag, opening.slot_bytes);
  auto& lane = opening.lane;
  Answer note;
  note.head = offered.head;
  note.why_not = offered.why_not;
  if (is_empty(offered.why_not))
    note.why_not = trouble_of([&] {
      // Other routes allow a sender to be further ahead than a GPU peer channel has slots.
      if (opening.sender->end().doorbell != nullptr)
        throw DeviceError(text("their messages go by ", opening.sender->end().route));
      auto& peers = side(opening.pair.first).stream->peers();
      auto memory = peers.open_memory(offered.memory, 2 * opening.slot_bytes);
      lane.is_direct = peers.stores_to(*memory);
      put_slots(lane, opening.slot_bytes, std::move(memory));
      for (std::size_t which = 0; which < 2; ++which) {
        lane.drained[which] = peers.open_event(offered.drained[which]);
        lane.filled[which] = peers.share_event(note.filled[which]);
      }
    });
  // Closes opened memory before the other end learns that it may free it.
  if (!is_empty(note.why_not)) opening.lane = {};
  tell(tools_.network, from, to, note);
}

void GpuRoutes::confirm(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto const answer = hear<Answer>(tools_.network, from, to, tag, opening.slot_bytes);
  Verdict note{answer.head, answer.why_not};
  if (is_empty(answer.why_not))
    note.why_not = trouble_of([&] {
      auto& peers = side(opening.pair.second).stream->peers();
      for (std::size_t which = 0; which < 2; ++which)
        opening.lane.filled[which] = peers.open_event(answer.filled[which]);
    });
  opening.why_not = note.why_not.data();
  tell(tools_.network, to, from, note);
}

// Memory and events that the other end may still have open are kept until the end of the job.
void GpuRoutes::keep(Opening& opening) {
  if (opening.why_not.empty()) {
    if (auto const found = lanes_.find(opening.pair); found != lanes_.end())
      earlier_.emplace_back(opening.pair, std::move(*found->second));
    put_in_place(opening.pair, std::move(opening.lane));
    return;
  }
  earlier_.emplace_back(opening.pair, std::move(opening.lane));
  without_lane_.insert(opening.pair);
  log_warning_once(
      text("GPUs of two processes of this host cannot reach each other's memory, and "
           "send through the host's: ",
           opening.why_not));
}

void GpuRoutes::choose_path(Message& message, DeviceId from, DeviceId to) {
  auto const route = route_between(from, to);
  message.gpu_route = route;
  message.lane = nullptr;
  if (route == Route::peer || route == Route::ipc) {
    message.path = PathKind::peer;
    message.lane = lanes_.at({from, to}).get();
    return;
  }
  message.path = route ? PathKind::communicator : PathKind::staged;
  bool const is_asked_for = choice_ == GpuRouteChoice::host || !tools_.network.may_share_memory();
  if (route || is_asked_for || without_lane_.contains({from, to})) return;
  log_warning_once(text("GPUs of several hosts send through the memory of the hosts",
                        group_.why_not().empty() ? "" : "; ", group_.why_not()));
}

void GpuRoutes::make_room(GpuSide& side, DevicePlan& plan) {
  auto const room = lay_out_messages(plan);
  bool const has_staging = side.staging != nullptr && room.on_host <= side.staging->size_bytes();
  bool const needs_staging = room.on_host > 0 && !has_staging;
  bool const has_room = side.messages != nullptr && room.on_gpu <= side.messages->size_bytes();
  if ((has_room || room.on_gpu == 0) && !needs_staging) return;
  tools_.rest();
  if (!has_room) {
    side.messages.reset();
    side.messages = side.stream->peers().make_plain_memory(room.on_gpu);
  }
  if (needs_staging) side.staging = side.stream->make_pinned(room.on_host);
}

void GpuRoutes::let_go() noexcept {
  auto const close = [&](Pair pair, GpuLane& lane) {
    if (lane.route != Route::ipc) return;
    if (tools_.job.is_local(pair.first)) {
      lane.keeps.reset();
      lane.drained = {};
    } else {
      lane.filled = {};
    }
  };
  for (auto& [pair, lane] : lanes_) close(pair, *lane);
  for (auto& [pair, lane] : earlier_) close(pair, lane);
}

void GpuRoutes::abandon() noexcept {
  for (auto* const side : tools_.sides)
    if (side->group != nullptr) side->group->abandon();
}

Route route_of(Message const& message) {
  if (message.gpu_route) return *message.gpu_route;
  return message.sender != nullptr ? message.sender->end().route : message.receiver->end().route;
}

}  // namespace tessera
