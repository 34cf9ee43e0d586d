#include "src/runtime/dispatcher.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/execution/storage/scalar_state.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

bool has_work(DevicePlan const& plan) {
  return !plan.sends.empty() || !plan.receives.empty() || !plan.copies.empty() ||
         !plan.parts.empty();
}

// True if this thread must drive some channel. Asks the channel ends, whose route may have changed
// since the plan was made.
bool moves_by_this_thread(CompiledStatement const& plan) {
  auto const driven = [](Message const& message) {
    auto const& end = message.sender != nullptr ? message.sender->end() : message.receiver->end();
    return end.doorbell != nullptr;
  };
  return std::any_of(plan.devices.begin(), plan.devices.end(), [&](DevicePlan const& device) {
    return std::any_of(device.sends.begin(), device.sends.end(), driven) ||
           std::any_of(device.receives.begin(), device.receives.end(), driven);
  });
}

void copy_kernel(Record& record, Statement const& statement) {
  if (record.kernel.size_bytes() < statement.kernel_bytes)
    record.kernel = HostMemory(statement.kernel_bytes);
  std::copy_n(static_cast<std::byte const*>(statement.kernel), statement.kernel_bytes,
              record.kernel.data());
  record.kernel_bytes = statement.kernel_bytes;
  record.copied_bytes = statement.copied_bytes;
}

}  // namespace

void Dispatcher::check_kernel(Statement const& statement) const {
  if (devices_.kind() != DeviceKind::cuda) return;
  auto const& stream = *devices_.contexts().front().gpu->stream;
  if (!can_launch(stream, statement.forms, statement.copied_bytes))
    throw KernelNotBuilt(
        text("the ", statement.kind, " at ", statement.place,
             " has no kernel for GPUs, since no CUDA compiler has seen it; build the program with "
             "tessera_compile_as_cuda(target), or run it with TESSERA_DEVICE=host"));
}

void Dispatcher::post(ReadyStatement const& ready) {
  auto& contexts = devices_.contexts();
  for (std::size_t i = 0; i < contexts.size(); ++i)
    post(contexts[i], ready.plan->devices[i], ready);
}

// Everything that changes from run to run, from the caller's view of the arrays.
void Dispatcher::post(DeviceContext& context, DevicePlan const& plan, ReadyStatement const& ready) {
  auto const& statement = ready.statement;
  if (!has_work(plan) && !statement.is_reduction()) return;
  auto& record = begin_record(context, Record::Kind::statement, ready.tag);
  record.outlives_statement = context.worker != nullptr;
  if (record.outlives_statement) record.compiled = ready.plan;
  record.plan = &plan;
  record.forms = statement.forms;
  record.step = statement.step.value_or(0);
  copy_kernel(record, statement);
  record.scratch = context.scratch.data();
  record.probe = profiler_.probe(devices_.index_of(context.device));
  record.row = ready.row;
  name_leaves(record, statement, plan);
  targets_.name(record, statement.target, context.device);
  name_result(record, context, statement);
  DevicePool::start(context, record);
}

Record& Dispatcher::begin_record(DeviceContext& context, Record::Kind kind,
                                 StatementTag const& tag) {
  auto& record = devices_.free_record(context);
  record.kind = kind;
  record.tag = tag;
  record.device = context.device;
  record.waiter = context.waiter;
  record.run_on(context.gpu.get());
  return record;
}

void Dispatcher::name_leaves(Record& record, Statement const& statement,
                             DevicePlan const& plan) const {
  record.buffers.clear();
  record.scalars.clear();
  record.keeps.clear();
  for (auto const& [leaf, box] : plan.buffers)
    record.buffers.push_back(
        storage_of(*statement.leaves[leaf].array).shards_of(record.device)[box].cells());
  for (auto const& leaf : statement.leaves) record.keep(leaf.array);
  auto const copy = static_cast<std::int64_t>(devices_.index_of(record.device));
  for (auto const& scalar : statement.scalars) {
    record.scalars.push_back(storage_of(*scalar).value(copy));
    record.keep(scalar);
  }
}

void Dispatcher::name_result(Record& record, DeviceContext& context, Statement const& statement) {
  record.accumulator = nullptr;
  if (!statement.is_reduction()) return;
  record.reduction = statement.reduction;
  record.accumulator = context.accumulator.data();
  auto const index = devices_.index_of(context.device);
  record.result = storage_of(*statement.result).value(static_cast<std::int64_t>(index));
  record.tree = &trees_.of_device(index);
  record.keep(statement.result);
}

bool Dispatcher::needs_this_thread(Statement const& statement,
                                   CompiledStatement const& plan) const {
  return moves_by_this_thread(plan) || (statement.is_reduction() && trees_.needs_this_thread());
}

void Dispatcher::post_to_all(std::function<void(Record&)> const& call, StatementTag const& tag) {
  for (auto& context : devices_.contexts()) post_call(context, call, tag, nullptr);
}

void Dispatcher::post_to_first(std::function<void(Record&)> const& call, StatementTag const& tag) {
  post_call(devices_.contexts().front(), call, tag, &trees_.across());
}

void Dispatcher::post_call(DeviceContext& context, std::function<void(Record&)> const& call,
                           StatementTag const& tag, TreeLinks* tree) {
  auto& record = begin_record(context, Record::Kind::call, tag);
  record.tree = tree;
  record.call = &call;
  DevicePool::start(context, record);
}

}  // namespace tessera
