#include "gpu_routes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"

#include "execute_on_gpu.hpp"

namespace tessera {
namespace {

// Slots between processes come in such steps, since the memory does so anyway.
constexpr std::int64_t shared_slot_step = std::int64_t{1} << 20;

// Why something cannot be, cut where it does not fit; empty if it can.
using Reason = std::array<char, 400>;

// What `f` fails by.
template <class F>
Reason trouble_of(F const& f) {
  Reason result{};
  try {
    f();
  } catch (DeviceError const& error) {
    std::string_view const words(error.what());
    std::copy_n(words.begin(), std::min(words.size(), result.size() - 1), result.begin());
  }
  return result;
}

bool is_empty(Reason const& reason) {
  return reason.front() == '\0';
}

// What the ends of a lane tell each other, one after the other.

// By the receiver.
struct Offer {
  Reason why_not{};
  GpuHandle memory;
  std::array<GpuHandle, 2> drained;
};

// By the sender.
struct Answer {
  Reason why_not{};
  std::array<GpuHandle, 2> filled;
};

// By the receiver.
struct Verdict {
  Reason why_not{};
};

template <class Note>
void tell(Network& network, DeviceId from, DeviceId to, Note const& note) {
  static_assert(sizeof note <= Network::max_note_bytes);
  network.tell(from, to, std::as_bytes(std::span(&note, 1)));
}

template <class Note>
Note hear(Network& network, DeviceId from, DeviceId to, StatementTag const& tag) {
  auto const bytes = network.hear(from, to, tag);
  TESSERA_ASSERT(bytes.size() == sizeof(Note), "another note about a lane than was awaited");
  Note note;
  std::memcpy(static_cast<void*>(&note), bytes.data(), sizeof note);
  return note;
}

void put_slots(GpuLane& lane, std::int64_t slot_bytes, std::shared_ptr<GpuRegion> memory) {
  lane.route = Route::ipc;
  lane.slot_bytes = slot_bytes;
  lane.slots = {memory->data(), memory->data() + slot_bytes};
  lane.keeps = std::move(memory);
}

// The numbers of one process, for everybody.
void spread(Bootstrap& bootstrap, GpuGroupId& id, bool is_mine) {
  std::array<std::int64_t, sizeof id.bytes / sizeof(std::int64_t)> numbers;
  static_assert(sizeof numbers == sizeof id.bytes);
  numbers.fill(std::numeric_limits<std::int64_t>::min());
  if (is_mine) std::memcpy(numbers.data(), id.bytes.data(), sizeof numbers);
  bootstrap.max_of_each(numbers);
  std::memcpy(id.bytes.data(), numbers.data(), sizeof numbers);
}

// Whether two devices of this host are on one GPU. A collective over the job.
bool shares_gpus(Bootstrap& bootstrap, std::span<GpuSide* const> sides) {
  auto const most = bootstrap.max_of(std::ssize(sides));
  // Fewer devices are filled up with numbers that no GPU has: its place among the host's.
  std::vector<std::int64_t> identities(static_cast<std::size_t>(most), 0);
  std::ranges::transform(sides, identities.begin(), [](GpuSide const* side) {
    return static_cast<std::int64_t>(side->stream->peers().gpu_identity() | 1U);
  });
  auto const table = bootstrap.host_table(identities);
  std::vector<std::int64_t> all(table.begin(), table.end());
  std::erase(all, 0);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) != all.end();
}

}  // namespace

GpuRoutes::GpuRoutes(GpuRouteTools tools) : tools_(std::move(tools)) {
  wish_ = environment_choice("TESSERA_GPU_ROUTE", {"host", "ipc", "nccl"}).value_or("");
  if (tools_.job.process_count() == 1) return;
  auto const number = wish_.empty() ? std::int64_t{0} : static_cast<std::int64_t>(wish_.front());
  std::array<std::int64_t, 2> ends{number, -number};
  tools_.bootstrap.max_of_each(ends);
  if (ends[0] != -ends[1]) throw ConfigError("TESSERA_GPU_ROUTE is not the same on all processes");
  choose_group();
}

GpuRoutes::~GpuRoutes() = default;

GpuSide& GpuRoutes::side(DeviceId device) const {
  return *tools_.sides[static_cast<std::size_t>(tools_.job.local_index(device))];
}

std::optional<Route> GpuRoutes::route_between(DeviceId from, DeviceId to) const {
  auto const& job = tools_.job;
  if (job.is_local(from) && job.is_local(to)) return Route::peer;
  if (has_group_ && wish_ == "nccl") return Route::nccl;
  if (wish_ == "host") return std::nullopt;
  auto const other = job.process_of(job.is_local(from) ? to : from);
  if (!is_near(other)) return has_group_ ? std::optional(Route::nccl) : std::nullopt;
  return without_lane_.contains({from, to}) ? std::nullopt : std::optional(Route::ipc);
}

bool GpuRoutes::is_near(ProcessId process) const {
  return std::ranges::find(tools_.bootstrap.host_processes(), process) !=
         tools_.bootstrap.host_processes().end();
}

void GpuRoutes::choose_group() {
  auto& bootstrap = tools_.bootstrap;
  bool const spans_hosts = std::ssize(bootstrap.host_processes()) < bootstrap.process_count();
  bool const is_useful = wish_ == "nccl" || (wish_.empty() && spans_hosts);
  if (!is_useful) return;
  bool const is_shared = shares_gpus(bootstrap, tools_.sides);
  auto const traits = tools_.sides.front()->stream->peers().group_traits();
  std::string why_not;
  if (!traits.exists)
    why_not = traits.why_not;
  else if (is_shared && !traits.shares_gpus)
    why_not = "several devices of this host are on one GPU";
  else if (spans_hosts && !traits.spans_hosts)
    why_not = "it is of one host";
  auto const lacking = bootstrap.max_of(why_not.empty() ? -1 : bootstrap.self().value());
  if (lacking < 0) {
    join_group();
    return;
  }
  if (why_not.empty()) why_not = text("process ", lacking, " cannot");
  if (wish_ == "nccl")
    throw ConfigError(text("TESSERA_GPU_ROUTE=nccl cannot join the devices: ", why_not));
  without_group_ = why_not;
}

void GpuRoutes::join_group() {
  auto const& job = tools_.job;
  auto& first = tools_.sides.front()->stream->peers();
  GpuGroupId id;
  bool const is_first = job.self() == ProcessId{0};
  if (is_first) id = first.make_group_id(job.device_count());
  spread(tools_.bootstrap, id, is_first);
  for (std::size_t i = 0; i < tools_.sides.size(); ++i) {
    auto& side = *tools_.sides[i];
    side.wires = side.stream->make_sibling();
    side.packed = side.stream->make_event();
    side.arrived = side.wires->make_event();
    side.group = side.wires->peers().join_group(
        id, job.first_local().value() + static_cast<std::int64_t>(i), job.device_count());
  }
  Awaited what;
  what.kind = Awaited::Kind::other;
  what.self = what.peer = job.first_local();
  for (auto* const side : tools_.sides)
    tools_.network.caller_waiter().until([&] { return side->group->is_ready(); }, what);
  has_group_ = true;
}

void GpuRoutes::prepare(CompiledStatement& plan, StatementTag const& tag) {
  open_lanes(plan, tag);
  for (auto& device : plan.devices) {
    for (auto& message : device.sends) name(message, device.device, message.peer);
    for (auto& message : device.receives) name(message, message.peer, device.device);
    make_room(side(device.device), device);
  }
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

// At least twice as long as before, so that all earlier memory together is no longer than this.
std::int64_t GpuRoutes::shared_slot_bytes(Pair pair, std::int64_t bytes) const {
  auto const found = lanes_.find(pair);
  auto const before = found == lanes_.end() ? 0 : found->second->slot_bytes;
  auto const wanted = std::max(bytes, 2 * before);
  return (wanted + shared_slot_step - 1) / shared_slot_step * shared_slot_step;
}

// New memory is the receiver's to begin with: the sender waits.
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

// Plans name the lane, so it stays where it is.
void GpuRoutes::put_in_place(Pair pair, GpuLane&& lane) {
  auto& place = lanes_[pair];
  if (place == nullptr) place = std::make_unique<GpuLane>();
  *place = std::move(lane);
}

// Every process goes through the same four steps, so that none waits for what another one does
// later. A lane that cannot grow stays for the plans that name it; later ones do without.
void GpuRoutes::open_remote_lanes(std::vector<Opening>& incoming, std::vector<Opening>& outgoing,
                                  StatementTag const& tag) {
  tools_.rest();
  for (auto& opening : incoming) offer(opening);
  for (auto& opening : outgoing) accept(opening, tag);
  for (auto& opening : incoming) confirm(opening, tag);
  for (auto& opening : outgoing)
    opening.why_not =
        hear<Verdict>(tools_.network, opening.pair.second, opening.pair.first, tag).why_not.data();
  for (auto& opening : incoming) keep(opening);
  for (auto& opening : outgoing) keep(opening);
}

void GpuRoutes::offer(Opening& opening) {
  auto const [from, to] = opening.pair;
  auto& lane = opening.lane;
  Offer note;
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
  auto const offered = hear<Offer>(tools_.network, to, from, tag);
  auto& lane = opening.lane;
  Answer note;
  note.why_not = offered.why_not;
  if (is_empty(offered.why_not))
    note.why_not = trouble_of([&] {
      // Others let a sender go further ahead than a lane has slots.
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
  tell(tools_.network, from, to, note);
}

void GpuRoutes::confirm(Opening& opening, StatementTag const& tag) {
  auto const [from, to] = opening.pair;
  auto const answer = hear<Answer>(tools_.network, from, to, tag);
  Verdict note{answer.why_not};
  if (is_empty(answer.why_not))
    note.why_not = trouble_of([&] {
      auto& peers = side(opening.pair.second).stream->peers();
      for (std::size_t which = 0; which < 2; ++which)
        opening.lane.filled[which] = peers.open_event(answer.filled[which]);
    });
  opening.why_not = note.why_not.data();
  tell(tools_.network, to, from, note);
}

void GpuRoutes::keep(Opening& opening) {
  if (opening.why_not.empty()) {
    // The sender may close earlier memory later than this.
    if (auto const found = lanes_.find(opening.pair);
        found != lanes_.end() && tools_.job.is_local(opening.pair.second))
      earlier_.push_back(found->second->keeps);
    put_in_place(opening.pair, std::move(opening.lane));
    return;
  }
  without_lane_.insert(opening.pair);
  log_warning_once(
      text("GPUs of two processes of this host do not reach each other's memory, and "
           "send through the host's: ",
           opening.why_not));
}

void GpuRoutes::name(Message& message, DeviceId from, DeviceId to) {
  auto const route = route_between(from, to);
  message.lane = nullptr;
  message.in_group = route == Route::nccl;
  if (route == Route::peer || route == Route::ipc) {
    message.lane = lanes_.at({from, to}).get();
    return;
  }
  bool const is_said = wish_ == "host" || without_lane_.contains({from, to});
  if (message.in_group || is_said) return;
  log_warning_once(
      text("GPUs of several hosts send through the memory of the hosts: NCCL is not "
           "used",
           without_group_.empty() ? "" : ": ", without_group_));
}

void GpuRoutes::make_room(GpuSide& side, DevicePlan const& plan) {
  auto const room = room_of(plan);
  bool const has_staging = side.staging != nullptr && room.on_host <= side.staging->size_bytes();
  bool const needs_staging = room.on_host > 0 && !has_staging;
  if (room.on_gpu <= side.messages.size_bytes() && !needs_staging) return;
  tools_.rest();
  if (room.on_gpu > side.messages.size_bytes())
    side.messages = DeviceMemory(room.on_gpu, side.stream);
  if (needs_staging) side.staging = side.stream->make_pinned(room.on_host);
}

void GpuRoutes::let_go() noexcept {
  for (auto& [pair, lane] : lanes_) {
    if (lane->route != Route::ipc) continue;
    if (tools_.job.is_local(pair.first)) {
      lane->keeps.reset();
      lane->drained = {};
    } else {
      lane->filled = {};
    }
  }
}

void GpuRoutes::abandon() noexcept {
  for (auto* const side : tools_.sides)
    if (side->group != nullptr) side->group->abandon();
}

Route route_of(Message const& message) {
  if (message.lane != nullptr) return message.lane->route;
  if (message.in_group) return Route::nccl;
  return message.sender != nullptr ? message.sender->end().route : message.receiver->end().route;
}

}  // namespace tessera
