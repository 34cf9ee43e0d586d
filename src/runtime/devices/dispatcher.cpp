#include "src/runtime/devices/dispatcher.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// True if this thread must drive some channel. Asks the channel ends, whose route may have changed
// since the plan was made.
bool moves_by_this_thread(CompiledStatement const& plan) {
  auto const driven = [](Message const& message) {
    auto const& end = message.sender != nullptr ? message.sender->end() : message.receiver->end();
    return end.doorbell != nullptr;
  };
  auto const is_driven = [&](Exchange const* exchange) {
    return std::ranges::any_of(exchange->sends, driven) ||
           std::ranges::any_of(exchange->receives, driven);
  };
  return std::ranges::any_of(plan.devices, [&](DevicePlan const& device) {
    return std::ranges::any_of(device.exchanges(), is_driven);
  });
}

void copy_kernel(DeviceTask& task, Statement const& statement) {
  if (task.kernel.size_bytes() < statement.kernel_bytes)
    task.kernel = HostMemory(statement.kernel_bytes);
  std::copy_n(static_cast<std::byte const*>(statement.kernel), statement.kernel_bytes,
              task.kernel.data());
  task.kernel_bytes = statement.kernel_bytes;
  task.copied_bytes = statement.copied_bytes;
}

}  // namespace

void Dispatcher::check_kernel(Statement const& statement) const {
  auto const& queue = *devices_.contexts().front().queue();
  if (statement.reduction.on_each || can_launch(queue, statement.forms, statement.copied_bytes))
    return;
  throw KernelNotBuilt(text("the ", statement.kind, " at ", statement.location,
                            " has no kernel for GPUs, since ", queue.traits().how_to_have_kernels,
                            ", or run it with TESSERA_DEVICE=host"));
}

void Dispatcher::post(ReadyStatement const& ready) {
  auto& contexts = devices_.contexts();
  for (std::size_t i = 0; i < contexts.size(); ++i)
    post(contexts[i], ready.plan->devices[i], ready);
}

// Fills in a task all that changes from run to run, as the caller sees the arrays now.
void Dispatcher::post(DeviceContext& context, DevicePlan const& plan, ReadyStatement const& ready) {
  auto const& statement = ready.statement;
  if (!has_work(plan) && !statement.is_reduction()) return;
  auto& task = begin_task(context, DeviceTask::Kind::statement, ready.tag);
  auto const& runner = context.runner;
  task.overlaps = !ready.is_step || steps_overlap_;
  bool const has_worker = context.worker != nullptr;
  bool const may_pair = task.overlaps && runner.may_pair(plan);
  task.outlives_statement = has_worker || (may_pair && runner.would_wait(plan, statement.forms));
  if (has_worker || may_pair) task.compiled = ready.plan;
  task.plan = &plan;
  task.forms = statement.forms;
  task.step = statement.step.value_or(0);
  copy_kernel(task, statement);
  task.scratch = context.scratch.data();
  task.timer = profiler_.timer(devices_.index_of(context.device));
  task.row = ready.row;
  name_operands(task, statement, plan);
  targets_.name(task, statement.target, context.device);
  name_result(task, context, statement);
  DevicePool::start(context, task);
}

DeviceTask& Dispatcher::begin_task(DeviceContext& context, DeviceTask::Kind kind,
                                   StatementTag const& tag) {
  auto& task = devices_.free_task(context);
  task.kind = kind;
  task.tag = tag;
  task.device = context.device;
  task.waiter = context.waiter;
  task.run_on(context.queue_context);
  task.is_done = false;
  return task;
}

void Dispatcher::name_operands(DeviceTask& task, Statement const& statement,
                               DevicePlan const& plan) const {
  task.buffers.clear();
  task.scalars.clear();
  task.keeps.clear();
  for (auto const& [operand, box] : plan.buffers)
    task.buffers.push_back(
        storage_of(*statement.operands[operand].array).shards_of(task.device)[box].cells());
  for (auto const& operand : statement.operands) task.keep(*operand.array);
  auto const copy = static_cast<std::int64_t>(devices_.index_of(task.device));
  for (auto const& scalar : statement.scalars) {
    task.scalars.push_back(storage_of(*scalar).value(copy));
    task.keep(scalar);
  }
}

void Dispatcher::name_result(DeviceTask& task, DeviceContext& context, Statement const& statement) {
  task.accumulator = nullptr;
  if (!statement.is_reduction()) return;
  task.reduction = statement.reduction;
  task.accumulator = context.accumulator.data();
  auto const index = devices_.index_of(context.device);
  task.result = storage_of(*statement.result).value(static_cast<std::int64_t>(index));
  task.tree = statement.reduction.on_each ? nullptr : &trees_.of_device(index);
  task.keep(statement.result);
}

bool Dispatcher::needs_this_thread(Statement const& statement,
                                   CompiledStatement const& plan) const {
  bool const combines = statement.is_reduction() && !statement.reduction.on_each;
  return moves_by_this_thread(plan) || (combines && trees_.needs_this_thread());
}

void Dispatcher::post_to_all(std::function<void(DeviceTask&)> const& call,
                             StatementTag const& tag) {
  for (auto& context : devices_.contexts()) post_call(context, call, tag, nullptr);
}

void Dispatcher::post_to_first(std::function<void(DeviceTask&)> const& call,
                               StatementTag const& tag) {
  post_call(devices_.contexts().front(), call, tag, &trees_.across());
}

void Dispatcher::post_call(DeviceContext& context, std::function<void(DeviceTask&)> const& call,
                           StatementTag const& tag, TreeLinks* tree) {
  auto& task = begin_task(context, DeviceTask::Kind::call, tag);
  task.tree = tree;
  task.call = &call;
  DevicePool::start(context, task);
}

}  // namespace tessera
