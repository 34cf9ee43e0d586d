#include "src/execution/compute.hpp"

#include <chrono>
#include <cstdint>

#include "src/base/detail.hpp"
#include "src/device/kernel_launch.hpp"
#include "src/execution/gpu_wait.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// Goes through the operands of a plan's parts as these are computed.
using OperandIterator = CompactList<PartOperand>::Iterator;

// The call of a kernel for a part of the task's plan. Names memory of both.
class PartCall {
 public:
  /// Moves `operand` from the part's first one past its last one.
  PartCall(DeviceTask const& task, Part const& part, OperandIterator& operand);
  PartCall(PartCall const&) = delete;
  PartCall& operator=(PartCall const&) = delete;

  /// Leaves only a band of the part, which is the only one of the plan.
  void cut_to(DevicePlan const& plan, Band const& band);

  KernelCall call;

 private:
  InlineVector<OperandView, max_operands> operands_;
  // Of a band.
  Index first_;
  Index extents_;
};

// The pause of a kernel that runs on this thread.
void drive_messages(void* waiter) {
  if (waiter != nullptr) static_cast<Waiter*>(waiter)->drive();
}

PartCall::PartCall(DeviceTask const& task, Part const& part, OperandIterator& operand) {
  for (std::size_t l = 0; l < part.operand_count; ++l, ++operand)
    operands_.push_back({operand_address(task, *operand), &operand.kept().strides});
  call.kernel = task.kernel.data();
  call.first = &part.first;
  call.extents = &part.extents;
  call.operands = operands_.begin();
  call.scalars = task.scalars.data();
  call.accumulator = task.accumulator;
  call.step = task.step;
  if (task.overlaps && task.queue->traits().is_eager) {
    call.pause = &drive_messages;
    call.pause_context = task.waiter;
  }
  call.target_strides = &part.target_strides;
  if (task.targets.empty()) return;
  call.target =
      (part.is_staged ? task.scratch : task.targets[part.write]) + part.target_offset_bytes;
}

void PartCall::cut_to(DevicePlan const& plan, Band const& band) {
  auto const& part = plan.parts.front();
  first_ = part.first;
  first_[0] += band.lo;
  extents_ = part.extents;
  extents_[0] = band.hi - band.lo;
  call.first = &first_;
  call.extents = &extents_;
  call.target += band.lo * part.target_strides[0] * part.target_element_bytes;
  auto* view = operands_.begin();
  for (auto const& operand : plan.operands)
    (view++)->first += band.lo * operand.strides[0] * operand.element_bytes;
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
          .operand_count = part.operand_count,
          .unit_stride = part.unit_stride};
}

// Scalars lie on the host, and so does a value of them that each device computes.
bool is_made_of_scalars(DeviceTask const& task) {
  return task.accumulator != nullptr && task.reduction.on_each;
}

void compute_part(DeviceTask& task, KernelSource const& kernel, Part const& part,
                  OperandIterator& operand, bool is_non_temporal) {
  PartCall call(task, part, operand);
  auto launch = launch_of(kernel, call, part);
  launch.non_temporal = is_non_temporal && part.may_store_non_temporal;
  // An accumulator belongs to one thread, which computes the whole part.
  launch.is_whole = task.accumulator != nullptr || task.plan->whole_parts;
  auto& queue = is_made_of_scalars(task) ? host_queue() : *task.queue;
  queue.launch(launch);
}

// The accumulators of one box are combined on the host.
void reduce_part_on_gpu(DeviceTask& task, KernelSource const& kernel, Part const& part,
                        OperandIterator& operand) {
  auto& gpu = *task.context;
  PartCall whole(task, part, operand);
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

void compute_parts(DeviceTask& task, KernelSource const& kernel, bool is_non_temporal) {
  auto operand = task.plan->operands.begin();
  for (auto const& part : task.plan->parts)
    compute_part(task, kernel, part, operand, is_non_temporal);
}

void compute_parts(DeviceTask& task, KernelSource const& kernel) {
  auto* const trial = store_trial_of(task);
  bool const is_non_temporal = trial != nullptr && trial->is_non_temporal();
  if (trial == nullptr || trial->is_over()) return compute_parts(task, kernel, is_non_temporal);
  using Clock = std::chrono::steady_clock;
  auto const begin = Clock::now();
  compute_parts(task, kernel, is_non_temporal);
  trial->add(Clock::now() - begin);
}

void reduce_parts_on_gpu(DeviceTask& task, KernelSource const& kernel) {
  auto operand = task.plan->operands.begin();
  for (auto const& part : task.plan->parts) reduce_part_on_gpu(task, kernel, part, operand);
}

}  // namespace

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

StoreTrial* store_trial_of(DeviceTask const& task) {
  auto const& trials = task.plan->store_trials;
  if (trials == nullptr || task.forms.non_temporal == nullptr || !task.queue->traits().is_eager)
    return nullptr;
  return trials->of(task.forms.non_temporal);
}

void compute(DeviceTask& task) {
  auto const kernel = source_of(task);
  bool const is_reduction = task.accumulator != nullptr;
  if (is_reduction) task.reduction.start(task.accumulator);
  bool const reduces_on_gpu =
      is_reduction && !is_made_of_scalars(task) && !task.queue->traits().host_reaches_memory;
  if (reduces_on_gpu)
    reduce_parts_on_gpu(task, kernel);
  else
    compute_parts(task, kernel);
}

void compute_band(DeviceTask& task, Band const& band, bool is_non_temporal) {
  if (band.lo >= band.hi) return;
  auto const kernel = source_of(task);
  auto const& part = task.plan->parts.front();
  auto operand = task.plan->operands.begin();
  PartCall call(task, part, operand);
  call.cut_to(*task.plan, band);
  auto launch = launch_of(kernel, call, part);
  launch.non_temporal = is_non_temporal && part.may_store_non_temporal;
  launch.rows = part.extents.size() == 1 ? 1 : part.rows / part.extents[0] * (band.hi - band.lo);
  task.queue->launch(launch);
}

}  // namespace tessera
