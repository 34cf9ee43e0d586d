#include "execute_on_gpu.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/planted.hpp"

#include "gpu_lane.hpp"

namespace tessera {
namespace {

constexpr std::int64_t alignment = 256;

// What is stored into the other GPU at once needs no room in one's own.
bool is_direct(Message const& message) {
  return message.lane != nullptr && message.lane->is_direct;
}

std::int64_t room_for(Message const& message) {
  if (is_direct(message)) return 0;
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

// Until the GPU has come to the end of its work so far.
void wait_for_gpu(Record& record) {
  if (planted("gpu_not_waited_for")) return;
  auto& side = *record.gpu;
  side.stream->record(*side.event);
  Awaited what;
  what.kind = Awaited::Kind::other;
  what.self = record.device;
  what.peer = record.device;
  what.statement = record.tag;
  record.waiter->until([&] { return side.event->has_passed(); }, what);
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

void pack_messages(Record& record) {
  visit_messages(record.plan->sends, 0, [&](Message const& message, std::int64_t begin) {
    if (!is_direct(message)) pack(record, message, record.gpu->messages.data() + begin);
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
    pack(record, message, lane.slots[which].data());
  else
    stream.copy(lane.slots[which].data(), record.gpu->messages.data() + begin, message.bytes);
  stream.record(*lane.filled[which]);
  message.sender->put(record.tag, 0);
}

void take_from_lane(Record& record, Message const& message) {
  auto& lane = *message.lane;
  auto& stream = *record.gpu->stream;
  (void)message.receiver->take(*record.waiter, record.tag);
  auto const which = lane.taken++ % lane.slots.size();
  if (!planted("gpu_reads_before_written")) stream.wait(*lane.filled[which]);
  unpack(record, message, lane.slots[which].data());
  if (!planted("gpu_says_nothing_of_reading")) stream.record(*lane.drained[which]);
  message.receiver->release();
}

void unpack_messages(Record& record) {
  visit_messages(record.plan->receives, begin_of_receives(*record.plan),
                 [&](Message const& message, std::int64_t begin) {
                   if (message.lane == nullptr)
                     unpack(record, message, record.gpu->messages.data() + begin);
                 });
}

// Of what travels in slots of the host: all, but for what goes by lanes.
std::int64_t piece_of(Message const& message, std::int64_t slot_bytes, std::int64_t round) {
  if (message.lane != nullptr) return 0;
  return std::clamp<std::int64_t>(message.bytes - round * slot_bytes, 0, slot_bytes);
}

// Piece `round` of every message goes into a slot, all of them before the host waits once. A slot
// that is held meanwhile keeps nobody: whoever has to drain one waits only for earlier pieces,
// which have been put.
bool put_pieces(Record& record, std::int64_t round) {
  auto& side = *record.gpu;
  bool more = false;
  side.slots.clear();
  visit_messages(record.plan->sends, 0, [&](Message const& message, std::int64_t begin) {
    if (message.lane != nullptr && round == 0) put_on_lane(record, message, begin);
    auto const slot_bytes = message.sender->slot_bytes();
    auto const size = piece_of(message, slot_bytes, round);
    if (size == 0) return;
    auto const slot = message.sender->slot(*record.waiter, record.tag);
    side.stream->copy(slot.data(), side.messages.data() + begin + round * slot_bytes, size);
    side.slots.push_back(slot);
    more = more || piece_of(message, slot_bytes, round + 1) > 0;
  });
  note_phase(record, Phase::wait);
  if (side.slots.empty()) return false;
  wait_for_gpu(record);
  for (auto const& message : record.plan->sends) {
    auto const size = piece_of(message, message.sender->slot_bytes(), round);
    if (size > 0) message.sender->put(record.tag, size);
  }
  note_phase(record, Phase::pack);
  return more;
}

bool take_pieces(Record& record, std::int64_t round) {
  auto& side = *record.gpu;
  bool any = false;
  bool more = false;
  visit_messages(record.plan->receives, begin_of_receives(*record.plan),
                 [&](Message const& message, std::int64_t begin) {
                   if (message.lane != nullptr && round == 0) take_from_lane(record, message);
                   auto const slot_bytes = message.receiver->slot_bytes();
                   auto const size = piece_of(message, slot_bytes, round);
                   if (size == 0) return;
                   auto const slot = message.receiver->take(*record.waiter, record.tag);
                   side.stream->copy(side.messages.data() + begin + round * slot_bytes, slot.data(),
                                     size);
                   any = true;
                   more = more || piece_of(message, slot_bytes, round + 1) > 0;
                 });
  note_phase(record, Phase::wait);
  if (!any) return false;
  wait_for_gpu(record);
  for (auto const& message : record.plan->receives)
    if (piece_of(message, message.receiver->slot_bytes(), round) > 0) message.receiver->release();
  note_phase(record, Phase::pack);
  return more;
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
  side.stream->copy(side.parts.data(), side.accumulators.data(), launch.parts * bytes);
  wait_for_gpu(record);
  for (std::int64_t p = 0; p < launch.parts; ++p)
    record.reduction.combine(record.accumulator, side.parts.data() + p * bytes);
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

std::int64_t bytes_of_messages(DevicePlan const& plan) {
  auto bytes = begin_of_receives(plan);
  for (auto const& message : plan.receives) bytes += room_for(message);
  return bytes;
}

void exchange_on_gpu(Record& record) {
  pack_messages(record);
  for (std::int64_t round = 0;; ++round) {
    bool const sends_more = put_pieces(record, round);
    bool const takes_more = take_pieces(record, round);
    if (!sends_more && !takes_more) break;
  }
  unpack_messages(record);
  copy_locally(record);
}

void send_from_gpu(Record& record) {
  pack_messages(record);
  for (std::int64_t round = 0; put_pieces(record, round);) ++round;
  copy_locally(record);
}

void receive_on_gpu(Record& record) {
  for (std::int64_t round = 0; take_pieces(record, round);) ++round;
  unpack_messages(record);
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
