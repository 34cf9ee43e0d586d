#include <algorithm>
#include <cstdint>

#include "src/base/inline_vector.hpp"
#include "src/device/kernel_launch.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/gpu_wait.hpp"
#include "src/execution/message_path.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/statement/kernel.hpp"

namespace tessera {
namespace {

void exchange(Record& record) {
  auto const& plan = *record.plan;
  if (plan.path != nullptr) plan.path->exchange(record, messages_of(plan));
}

void copy_locally(Record& record) {
  auto& queue = *record.queue;
  for (auto const& copy : record.plan->copies) {
    auto* const to = base_of(record, copy.storage, copy.to);
    auto const* const from = record.buffers[copy.from];
    if (record.plan->past_caches)
      queue.copy_block_past_caches(to, copy.pair.to, from, copy.pair.from);
    else
      queue.copy_block(to, copy.pair.to, from, copy.pair.from);
  }
}

std::byte const* leaf_address(Record const& record, PartLeaf const& leaf) {
  switch (leaf.storage) {
    case Storage::shard:
      return record.buffers[leaf.buffer] + leaf.offset_bytes;
    case Storage::scratch:
      return record.scratch + leaf.offset_bytes;
    case Storage::constant:
      return record.kernel.data() + leaf.offset_bytes;
    case Storage::target:
      break;  // no kernel reads what arrives there
  }
  return nullptr;
}

// The call of a kernel for a part of the record's plan. Names memory of both.
class PartCall {
 public:
  PartCall(Record const& record, Part const& part);
  PartCall(PartCall const&) = delete;
  PartCall& operator=(PartCall const&) = delete;

  KernelCall call;

 private:
  InlineVector<LeafView, max_leaves> leaves_;
};

PartCall::PartCall(Record const& record, Part const& part) {
  for (auto const& leaf : part.leaves)
    leaves_.push_back({leaf_address(record, leaf), &leaf.strides});
  call.kernel = record.kernel.data();
  call.first = &part.first;
  call.extents = &part.extents;
  call.leaves = leaves_.begin();
  call.scalars = record.scalars.data();
  call.accumulator = record.accumulator;
  call.step = record.step;
  call.target_strides = &part.target_strides;
  if (record.targets.empty()) return;
  bool const is_staged = record.plan->writes[part.write].staged;
  call.target =
      (is_staged ? record.scratch : record.targets[part.write]) + part.target_offset_bytes;
}

KernelSource source_of(Record const& record) {
  return {.forms = &record.forms,
          .bytes = record.kernel_bytes,
          .copied_bytes = record.copied_bytes,
          .scalar_count = record.scalars.size(),
          .scalar_bytes = ScalarState::most_bytes,
          .place = record.tag.place};
}

KernelLaunch launch_of(KernelSource const& kernel, PartCall const& whole, Part const& part) {
  return {.kernel = &kernel,
          .box = &whole.call,
          .rows = part.rows,
          .leaf_count = part.leaves.size(),
          .unit_stride = part.unit_stride,
          .past_caches = part.past_caches};
}

void compute_part(Record& record, KernelSource const& kernel, Part const& part) {
  PartCall const whole(record, part);
  auto launch = launch_of(kernel, whole, part);
  // One accumulator is for one thread.
  launch.is_whole = record.accumulator != nullptr || record.plan->whole_parts;
  record.queue->launch(launch);
}

// The accumulators of one box are combined on the host.
void reduce_part_on_gpu(Record& record, KernelSource const& kernel, Part const& part) {
  auto& gpu = *record.gpu_context;
  PartCall whole(record, part);
  whole.call.accumulator = gpu.accumulators.data();
  auto launch = launch_of(kernel, whole, part);
  auto const bytes = record.reduction.accumulator_bytes;
  auto const parts = gpu_blocks_per_multiprocessor * record.queue->multiprocessors();
  launch.sums = {parts, bytes, record.reduction.start};
  record.queue->launch(launch);
  record.queue->copy(gpu.parts->data(), gpu.accumulators.data(), parts * bytes);
  wait_for_gpu(record);
  for (std::int64_t p = 0; p < parts; ++p)
    record.reduction.combine(record.accumulator, gpu.parts->data() + p * bytes);
}

void compute(Record& record) {
  auto const kernel = source_of(record);
  bool const is_reduction = record.accumulator != nullptr;
  if (is_reduction) record.reduction.start(record.accumulator);
  bool const reduces_on_gpu = is_reduction && !record.queue->traits().host_reaches_memory;
  for (auto const& part : record.plan->parts) {
    if (reduces_on_gpu)
      reduce_part_on_gpu(record, kernel, part);
    else
      compute_part(record, kernel, part);
  }
  note_phase(record, Phase::kernel);
}

// What could not be written at once, since the statement still read it.
void copy_staged_writes(Record& record) {
  bool has_copied = false;
  for (std::size_t w = 0; w < record.targets.size(); ++w) {
    auto const& write = record.plan->writes[w];
    if (!write.staged) continue;
    record.queue->copy_block(record.targets[w], write.stage.to, record.scratch, write.stage.from);
    has_copied = true;
  }
  if (has_copied) note_phase(record, Phase::pack);
}

void carry_out(Record& record) {
  exchange(record);
  copy_locally(record);
  for (auto const& carry : record.carry)
    record.queue->copy_block(carry.to, carry.block, carry.from, carry.block);
  note_phase(record, Phase::pack);
  compute(record);
  copy_staged_writes(record);
  if (record.accumulator != nullptr) reduce_along_tree(record);
}

void execute_statement(Record& record) {
  if (record.probe == nullptr) return carry_out(record);
  auto& probe = *record.probe;
  probe.begin(record.row);
  try {
    carry_out(record);
  } catch (...) {
    // A wait ended this way, unless a user's kernel threw. Traces are read for the statement that
    // was broken off.
    probe.end_of(Phase::wait);
    probe.end();
    throw;
  }
  probe.end();
}

}  // namespace

void exchange_cells(Record& record) {
  exchange(record);
  copy_locally(record);
}

bool channels_hold_messages(DevicePlan const& plan) {
  return std::ranges::all_of(
      plan.sends, [&](Message const& message) { return plan.path->holds_whole(message); });
}

void send_cells(Record& record) {
  auto const& plan = *record.plan;
  if (plan.path != nullptr) {
    auto const messages = messages_of(plan);
    plan.path->begin_sends(record, messages);
    for (std::int64_t round = 0; plan.path->put_pieces(record, messages, round);) ++round;
  }
  copy_locally(record);
}

void receive_cells(Record& record) {
  auto const& plan = *record.plan;
  if (plan.path == nullptr) return;
  auto const messages = messages_of(plan);
  for (std::int64_t round = 0; plan.path->take_pieces(record, messages, round);) ++round;
  plan.path->finish_receives(record, messages);
}

void execute(Record& record) {
  if (record.kind == Record::Kind::call)
    (*record.call)(record);
  else
    execute_statement(record);
  record.keeps.clear();
  record.compiled.reset();
}

}  // namespace tessera
