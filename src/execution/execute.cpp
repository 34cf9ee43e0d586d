#include <algorithm>
#include <chrono>
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

void exchange(DeviceTask& task) {
  auto const& plan = *task.plan;
  if (plan.path != nullptr) plan.path->exchange(task, messages_of(plan));
}

void copy_locally(DeviceTask& task) {
  auto& queue = *task.queue;
  for (auto const& copy : task.plan->copies) {
    auto* const to = base_of(task, copy.storage, copy.to);
    auto const* const from = task.buffers[copy.from];
    if (copy.non_temporal)
      queue.copy_block_non_temporal(to, copy.pair.to, from, copy.pair.from);
    else
      queue.copy_block(to, copy.pair.to, from, copy.pair.from);
  }
}

std::byte const* operand_address(DeviceTask const& task, PartOperand const& operand) {
  switch (operand.storage) {
    case Storage::shard:
      return task.buffers[operand.buffer] + operand.offset_bytes;
    case Storage::scratch:
      return task.scratch + operand.offset_bytes;
    case Storage::constant:
      return task.kernel.data() + operand.offset_bytes;
    case Storage::target:
      break;  // no kernel reads what arrives there
  }
  return nullptr;
}

// The call of a kernel for a part of the task's plan. Names memory of both.
class PartCall {
 public:
  PartCall(DeviceTask const& task, Part const& part);
  PartCall(PartCall const&) = delete;
  PartCall& operator=(PartCall const&) = delete;

  KernelCall call;

 private:
  InlineVector<OperandView, max_operands> operands_;
};

PartCall::PartCall(DeviceTask const& task, Part const& part) {
  for (auto const& operand : part.operands)
    operands_.push_back({operand_address(task, operand), &operand.strides});
  call.kernel = task.kernel.data();
  call.first = &part.first;
  call.extents = &part.extents;
  call.operands = operands_.begin();
  call.scalars = task.scalars.data();
  call.accumulator = task.accumulator;
  call.step = task.step;
  call.target_strides = &part.target_strides;
  if (task.targets.empty()) return;
  bool const is_staged = task.plan->writes[part.write].staged;
  call.target = (is_staged ? task.scratch : task.targets[part.write]) + part.target_offset_bytes;
}

KernelSource source_of(DeviceTask const& task) {
  return {.forms = &task.forms,
          .bytes = task.kernel_bytes,
          .copied_bytes = task.copied_bytes,
          .scalar_count = task.scalars.size(),
          .scalar_bytes = ScalarState::most_bytes,
          .location = task.tag.location};
}

KernelLaunch launch_of(KernelSource const& kernel, PartCall const& whole, Part const& part) {
  return {.kernel = &kernel,
          .box = &whole.call,
          .rows = part.rows,
          .operand_count = part.operands.size(),
          .unit_stride = part.unit_stride};
}

void compute_part(DeviceTask& task, KernelSource const& kernel, Part const& part,
                  bool is_non_temporal) {
  PartCall call(task, part);
  auto launch = launch_of(kernel, call, part);
  launch.non_temporal = is_non_temporal && part.may_store_non_temporal;
  // An accumulator belongs to one thread, which computes the whole part.
  launch.is_whole = task.accumulator != nullptr || task.plan->whole_parts;
  task.queue->launch(launch);
}

// The accumulators of one box are combined on the host.
void reduce_part_on_gpu(DeviceTask& task, KernelSource const& kernel, Part const& part) {
  auto& gpu = *task.context;
  PartCall whole(task, part);
  whole.call.accumulator = gpu.accumulators.data();
  auto launch = launch_of(kernel, whole, part);
  auto const bytes = task.reduction.accumulator_bytes;
  auto const parts = gpu_blocks_per_multiprocessor * task.queue->multiprocessors();
  launch.sums = {parts, bytes, task.reduction.start};
  task.queue->launch(launch);
  task.queue->copy(gpu.parts->data(), gpu.accumulators.data(), parts * bytes);
  wait_for_gpu(task);
  for (std::int64_t p = 0; p < parts; ++p)
    task.reduction.combine(task.accumulator, gpu.parts->data() + p * bytes);
}

// Where the time of a call is that of its work.
StoreTrial* trial_of(DeviceTask const& task) {
  auto const& trials = task.plan->store_trials;
  if (trials == nullptr || task.forms.non_temporal == nullptr || !task.queue->traits().is_eager)
    return nullptr;
  return trials->of(task.forms.non_temporal);
}

void compute_parts(DeviceTask& task, KernelSource const& kernel) {
  auto* const trial = trial_of(task);
  if (trial == nullptr || trial->is_over()) {
    bool const is_non_temporal = trial != nullptr && trial->is_non_temporal();
    for (auto const& part : task.plan->parts) compute_part(task, kernel, part, is_non_temporal);
    return;
  }
  using Clock = std::chrono::steady_clock;
  auto const begin = Clock::now();
  for (auto const& part : task.plan->parts)
    compute_part(task, kernel, part, trial->is_non_temporal());
  trial->add(Clock::now() - begin);
}

void compute(DeviceTask& task) {
  auto const kernel = source_of(task);
  bool const is_reduction = task.accumulator != nullptr;
  if (is_reduction) task.reduction.start(task.accumulator);
  bool const reduces_on_gpu = is_reduction && !task.queue->traits().host_reaches_memory;
  if (reduces_on_gpu)
    for (auto const& part : task.plan->parts) reduce_part_on_gpu(task, kernel, part);
  else
    compute_parts(task, kernel);
  note_phase(task, Phase::kernel);
}

// Copies results from the temporary to the target, which the statement still read when it computed
// them.
void copy_staged_writes(DeviceTask& task) {
  bool has_copied = false;
  for (std::size_t w = 0; w < task.targets.size(); ++w) {
    auto const& write = task.plan->writes[w];
    if (!write.staged) continue;
    task.queue->copy_block(task.targets[w], write.stage.to, task.scratch, write.stage.from);
    has_copied = true;
  }
  if (has_copied) note_phase(task, Phase::pack);
}

void carry_out(DeviceTask& task) {
  exchange(task);
  copy_locally(task);
  for (auto const& carry : task.carry)
    task.queue->copy_block(carry.to, carry.block, carry.from, carry.block);
  note_phase(task, Phase::pack);
  compute(task);
  copy_staged_writes(task);
  if (task.accumulator != nullptr) reduce_along_tree(task);
}

void execute_statement(DeviceTask& task) {
  if (task.timer == nullptr) return carry_out(task);
  auto& timer = *task.timer;
  timer.begin(task.row);
  try {
    carry_out(task);
  } catch (...) {
    // A wait ended this way, unless a user's kernel threw. Traces are read for the statement that
    // was broken off.
    timer.end_of(Phase::wait);
    timer.end();
    throw;
  }
  timer.end();
}

}  // namespace

void exchange_cells(DeviceTask& task) {
  exchange(task);
  copy_locally(task);
}

bool channels_hold_messages(DevicePlan const& plan) {
  return std::ranges::all_of(
      plan.sends, [&](Message const& message) { return plan.path->holds_whole(message); });
}

void send_cells(DeviceTask& task) {
  auto const& plan = *task.plan;
  if (plan.path != nullptr) {
    auto const messages = messages_of(plan);
    plan.path->begin_sends(task, messages);
    for (std::int64_t round = 0; plan.path->put_pieces(task, messages, round);) ++round;
  }
  copy_locally(task);
}

void receive_cells(DeviceTask& task) {
  auto const& plan = *task.plan;
  if (plan.path == nullptr) return;
  auto const messages = messages_of(plan);
  for (std::int64_t round = 0; plan.path->take_pieces(task, messages, round);) ++round;
  plan.path->finish_receives(task, messages);
}

void execute(DeviceTask& task) {
  if (task.kind == DeviceTask::Kind::call)
    (*task.call)(task);
  else
    execute_statement(task);
  task.keeps.clear();
  task.compiled.reset();
}

}  // namespace tessera
