#include "execute_on_gpu.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"

#include "gpu_lane.hpp"

namespace tessera {
namespace {

constexpr std::int64_t alignment = 256;

bool is_staged(Message const& message) {
  return message.lane == nullptr && !message.in_group();
}

// What is stored into the other GPU at once, or read where it was stored, needs no room.
std::int64_t room_for(Message const& message) {
  bool const is_copied =
      message.lane != nullptr && message.sender != nullptr && !message.lane->is_direct;
  if (message.lane != nullptr && !is_copied) return 0;
  return (message.bytes + alignment - 1) / alignment * alignment;
}

// Calls visit(message, its place among the messages' bytes) for each of them.
template <class Visit>
void visit_messages(std::vector<Message> const& messages, std::int64_t begin, Visit const& visit) {
  for (auto const& message : messages) {
    visit(message, begin);
    begin += room_for(message);
  }
}

// What is received lies behind what is sent.
std::int64_t begin_of_receives(DevicePlan const& plan) {
  std::int64_t bytes = 0;
  for (auto const& message : plan.sends) bytes += room_for(message);
  return bytes;
}

// For what the GPU does by itself.
template <class Ready>
void wait_until(Record& record, Ready const& ready) {
  Awaited what;
  what.kind = Awaited::Kind::gpu;
  what.self = record.device;
  what.peer = record.device;
  what.statement = record.tag;
  record.waiter->until(ready, what);
}

void wait_until_passed(Record& record, GpuEvent& event) {
  wait_until(record, [&] {
    record.gpu->check_group();
    return event.has_passed();
  });
}

// Until the GPU has come to the end of its work so far.
void wait_for_gpu(Record& record) {
  if (planted("gpu_not_waited_for")) return;
  auto& side = *record.gpu;
  side.stream->record(*side.event);
  wait_until_passed(record, *side.event);
}

// Calls visit(block, the place of its bytes) for each block of a message.
template <class Visit>
void visit_blocks(Message const& message, std::int64_t at, Visit const& visit) {
  for (auto const& block : message.blocks) {
    if (block.bytes > 0) visit(block, at);
    at += block.bytes;
  }
}

void pack(Record& record, Message const& message, std::byte* to) {
  visit_blocks(message, 0, [&](MessageBlock const& block, std::int64_t at) {
    record.gpu->stream->pack(base_of(record, block.storage, block.buffer), block.block, 0, to + at,
                             block.bytes);
  });
}

void unpack(Record& record, Message const& message, std::byte const* from) {
  visit_blocks(message, 0, [&](MessageBlock const& block, std::int64_t at) {
    record.gpu->stream->unpack(base_of(record, block.storage, block.buffer), block.block, 0,
                               from + at, block.bytes);
  });
}

template <class Visit>
void visit_sends(Record const& record, Visit const& visit) {
  visit_messages(record.plan->sends, 0, visit);
}

template <class Visit>
void visit_receives(Record const& record, Visit const& visit) {
  visit_messages(record.plan->receives, begin_of_receives(*record.plan), visit);
}

bool has_group_messages(DevicePlan const& plan) {
  return std::ranges::any_of(plan.sends, &Message::in_group) ||
         std::ranges::any_of(plan.receives, &Message::in_group);
}

void pack_messages(Record& record) {
  visit_sends(record, [&](Message const& message, std::int64_t begin) {
    if (room_for(message) > 0) pack(record, message, record.gpu->messages->data() + begin);
  });
}

// A slot of the lane is written once the GPU that reads it has come to the end of its last
// message, which has been brought to it: the channel's slot is free.
void put_on_lane(Record& record, Message const& message, std::int64_t begin) {
  auto& lane = *message.lane;
  auto& stream = *record.gpu->stream;
  (void)message.sender->slot(*record.waiter, record.tag);
  auto const which = lane.put++ % lane.slots.size();
  if (!planted("gpu_writes_before_read")) stream.wait(*lane.drained[which]);
  if (lane.is_direct)
    pack(record, message, lane.slots[which]);
  else
    stream.copy(lane.slots[which], record.gpu->messages->data() + begin, message.bytes);
  stream.record(*lane.filled[which]);
  message.sender->put(record.tag, 0);
}

void take_from_lane(Record& record, Message const& message) {
  auto& lane = *message.lane;
  auto& stream = *record.gpu->stream;
  (void)message.receiver->take(*record.waiter, record.tag);
  auto const which = lane.taken++ % lane.slots.size();
  if (!planted("gpu_reads_before_written")) stream.wait(*lane.filled[which]);
  unpack(record, message, lane.slots[which]);
  if (!planted("gpu_says_nothing_of_reading")) stream.record(*lane.drained[which]);
  message.receiver->release();
}

// Says by the channel that this device has come to the statement: what the group sends has no name.
void announce(Record& record, Message const& message) {
  (void)message.sender->slot(*record.waiter, record.tag);
  message.sender->put(record.tag, 0);
}

// A connection that breaks is a process that fails.
void wait_for_group(Record& record) try {
  wait_until(record, [&] { return record.gpu->group->is_ready(); });
} catch (TransportError const& error) {
  throw PeerFailed(text(error.what(), ", at ", record.tag));
}

// Brings all messages of the group, beside the kernels that have been launched since the packing.
// They end when the others have come to the statement too, of which those that send have said so.
void exchange_in_group(Record& record) {
  auto& side = *record.gpu;
  if (!has_group_messages(*record.plan)) return;
  for (auto const& message : record.plan->receives) {
    if (!message.in_group()) continue;
    (void)message.receiver->take(*record.waiter, record.tag);
    message.receiver->release();
  }
  if (!planted("gpu_group_sends_before_packed")) side.wires->wait(*side.packed);
  side.group->begin();
  visit_sends(record, [&](Message const& message, std::int64_t begin) {
    if (message.in_group())
      side.group->send(message.peer.value(), side.messages->data() + begin, message.bytes);
  });
  visit_receives(record, [&](Message const& message, std::int64_t begin) {
    if (message.in_group())
      side.group->receive(message.peer.value(), side.messages->data() + begin, message.bytes);
  });
  side.group->end();
  wait_for_group(record);
  side.wires->record(*side.arrived);
  if (!planted("gpu_group_read_before_arrived")) side.stream->wait(*side.arrived);
}

void stage_sends(Record& record) {
  auto& side = *record.gpu;
  bool is_any = false;
  visit_sends(record, [&](Message const& message, std::int64_t begin) {
    if (!is_staged(message)) return;
    side.stream->copy(side.staging->data() + begin, side.messages->data() + begin, message.bytes);
    is_any = true;
  });
  if (is_any) wait_for_gpu(record);
}

// The bytes that came last have left the room for those that come.
void wait_for_staging(Record& record) {
  auto& side = *record.gpu;
  if (std::ranges::none_of(record.plan->receives, is_staged)) return;
  if (planted("gpu_staging_written_again")) return;
  wait_until_passed(record, *side.unstaged);
}

// Of what travels in slots of the host.
std::int64_t piece_of(Message const& message, std::int64_t slot_bytes, std::int64_t round) {
  if (!is_staged(message)) return 0;
  return std::clamp<std::int64_t>(message.bytes - round * slot_bytes, 0, slot_bytes);
}

// Piece `round` of every message goes into a slot; returns whether there is a next one.
bool put_pieces(Record& record, std::int64_t round) {
  bool more = false;
  visit_sends(record, [&](Message const& message, std::int64_t begin) {
    auto const slot_bytes = message.sender->slot_bytes();
    auto const size = piece_of(message, slot_bytes, round);
    if (size == 0) return;
    auto const slot = message.sender->slot(*record.waiter, record.tag);
    std::memcpy(slot.data(), record.gpu->staging->data() + begin + round * slot_bytes,
                static_cast<std::size_t>(size));
    message.sender->put(record.tag, size);
    more = more || piece_of(message, slot_bytes, round + 1) > 0;
  });
  note_phase(record, Phase::wait);
  return more;
}

bool take_pieces(Record& record, std::int64_t round) {
  bool more = false;
  visit_receives(record, [&](Message const& message, std::int64_t begin) {
    auto const slot_bytes = message.receiver->slot_bytes();
    auto const size = piece_of(message, slot_bytes, round);
    if (size == 0) return;
    auto const slot = message.receiver->take(*record.waiter, record.tag);
    std::memcpy(record.gpu->staging->data() + begin + round * slot_bytes, slot.data(),
                static_cast<std::size_t>(size));
    message.receiver->release();
    more = more || piece_of(message, slot_bytes, round + 1) > 0;
  });
  note_phase(record, Phase::wait);
  return more;
}

void unstage_receives(Record& record) {
  auto& side = *record.gpu;
  bool is_any = false;
  visit_receives(record, [&](Message const& message, std::int64_t begin) {
    if (!is_staged(message)) return;
    side.stream->copy(side.messages->data() + begin, side.staging->data() + begin, message.bytes);
    is_any = true;
  });
  if (is_any) side.stream->record(*side.unstaged);
}

// Everything that leaves, but for what goes through slots of the host.
void begin_exchange(Record& record) {
  auto& side = *record.gpu;
  pack_messages(record);
  if (has_group_messages(*record.plan)) side.stream->record(*side.packed);
  visit_sends(record, [&](Message const& message, std::int64_t begin) {
    if (message.lane != nullptr) put_on_lane(record, message, begin);
    if (message.in_group()) announce(record, message);
  });
  note_phase(record, Phase::pack);
  stage_sends(record);
  note_phase(record, Phase::wait);
}

void end_exchange(Record& record) {
  for (auto const& message : record.plan->receives)
    if (message.lane != nullptr) take_from_lane(record, message);
  exchange_in_group(record);
  note_phase(record, Phase::wait);
  unstage_receives(record);
  visit_receives(record, [&](Message const& message, std::int64_t begin) {
    if (message.lane == nullptr) unpack(record, message, record.gpu->messages->data() + begin);
  });
  note_phase(record, Phase::pack);
}

void copy_locally(Record& record) {
  for (auto const& copy : record.plan->copies)
    record.gpu->stream->copy_block(base_of(record, copy.storage, copy.to), copy.pair.to,
                                   record.buffers[copy.from], copy.pair.from);
}

GpuLaunch launch_of(Record const& record, PartCall const& whole, Part const& part) {
  GpuLaunch launch;
  launch.forms = &record.forms;
  launch.box = &whole.call;
  launch.rows = part.rows;
  launch.unit_stride = part.unit_stride;
  launch.leaf_count = part.leaves.size();
  launch.scalar_count = record.scalars.size();
  launch.kernel_bytes = record.kernel_bytes;
  launch.copied_bytes = record.copied_bytes;
  launch.place = record.tag.place;
  return launch;
}

// The parts of one box meet on the host.
void reduce_part(Record& record, Part const& part) {
  auto& side = *record.gpu;
  auto const bytes = record.reduction.accumulator_bytes;
  PartCall whole(record, part);
  whole.call.accumulator = side.accumulators.data();
  auto launch = launch_of(record, whole, part);
  launch.parts = gpu_blocks_per_multiprocessor * side.stream->multiprocessors();
  launch.accumulator_bytes = bytes;
  launch.start = record.reduction.start;
  launch_on_gpu(*side.stream, launch);
  side.stream->copy(side.parts->data(), side.accumulators.data(), launch.parts * bytes);
  wait_for_gpu(record);
  for (std::int64_t p = 0; p < launch.parts; ++p)
    record.reduction.combine(record.accumulator, side.parts->data() + p * bytes);
}

void compute(Record& record, Part const& part) {
  if (record.accumulator != nullptr) {
    reduce_part(record, part);
    return;
  }
  PartCall const whole(record, part);
  launch_on_gpu(*record.gpu->stream, launch_of(record, whole, part));
}

void copy_staged(Record& record) {
  for (std::size_t w = 0; w < record.targets.size(); ++w) {
    auto const& write = record.plan->writes[w];
    if (write.staged)
      record.gpu->stream->copy_block(record.targets[w], write.stage.to, record.scratch,
                                     write.stage.from);
  }
}

}  // namespace

MessageRoom room_of(DevicePlan const& plan) {
  MessageRoom room{begin_of_receives(plan), 0};
  for (auto const& message : plan.receives) room.on_gpu += room_for(message);
  bool const is_any =
      std::ranges::any_of(plan.sends, is_staged) || std::ranges::any_of(plan.receives, is_staged);
  if (is_any) room.on_host = room.on_gpu;
  return room;
}

void exchange_on_gpu(Record& record) {
  begin_exchange(record);
  wait_for_staging(record);
  for (std::int64_t round = 0;; ++round) {
    bool const sends_more = put_pieces(record, round);
    bool const takes_more = take_pieces(record, round);
    if (!sends_more && !takes_more) break;
  }
  end_exchange(record);
  copy_locally(record);
}

void send_from_gpu(Record& record) {
  begin_exchange(record);
  for (std::int64_t round = 0; put_pieces(record, round);) ++round;
  copy_locally(record);
}

void receive_on_gpu(Record& record) {
  wait_for_staging(record);
  for (std::int64_t round = 0; take_pieces(record, round);) ++round;
  end_exchange(record);
}

void execute_on_gpu(Record& record) {
  auto& stream = *record.gpu->stream;
  exchange_on_gpu(record);
  for (auto const& carry : record.carry)
    stream.copy_block(carry.to, carry.block, carry.from, carry.block);
  note_phase(record, Phase::pack);
  if (record.accumulator != nullptr) record.reduction.start(record.accumulator);
  for (auto const& part : record.plan->parts) compute(record, part);
  copy_staged(record);
  note_phase(record, Phase::kernel);
  if (record.accumulator != nullptr) meet(record);
}

}  // namespace tessera
