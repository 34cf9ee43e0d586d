#include <algorithm>
#include <cstdint>

#include "src/execution/compute.hpp"
#include "src/execution/device_task.hpp"
#include "src/execution/message_path.hpp"

namespace tessera {
namespace {

void exchange(DeviceTask& task) {
  for (auto const* messages : task.plan->exchanges())
    if (messages->path != nullptr) messages->path->exchange(task, messages_of(*messages));
}

void copy_locally(DeviceTask& task) {
  auto& queue = *task.queue;
  for (auto const& copy : task.plan->copies) {
    auto* const to = base_of(task, copy.storage, copy.to);
    auto const* const from = base_of(task, copy.source, copy.from);
    if (copy.non_temporal)
      queue.copy_block_non_temporal(to, copy.pair.to, from, copy.pair.from);
    else
      queue.copy_block(to, copy.pair.to, from, copy.pair.from);
  }
}

// Copies results from the temporary to the target, which the statement still read when it computed
// them.
void copy_staged_writes(DeviceTask& task) {
  auto stage = task.plan->stages.begin();
  if (stage == task.plan->stages.end()) return;
  auto write = task.plan->writes.begin();
  for (auto* const target : task.targets) {
    if (write.kept().staged) {
      task.queue->copy_block(target, stage->to, task.scratch, stage->from);
      ++stage;
    }
    ++write;
  }
  note_phase(task, Phase::pack);
}

// Waits until all messages that the task has sent have arrived, or at least left.
void finish_sends(DeviceTask& task) {
  for (auto const* sent : task.plan->exchanges())
    for (auto const& message : sent->sends) message.sender->finish(*task.waiter, task.tag);
  note_phase(task, Phase::wait);
}

void bring_cells(DeviceTask& task) {
  exchange(task);
  copy_locally(task);
  for (auto const& carry : task.carry)
    task.queue->copy_block(carry.to, carry.block, carry.from, carry.block);
  note_phase(task, Phase::pack);
  if (!task.overlaps) finish_sends(task);
}

void compute_cells(DeviceTask& task) {
  compute(task);
  note_phase(task, Phase::kernel);
  copy_staged_writes(task);
  if (task.accumulator != nullptr) reduce_along_tree(task);
}

template <class Work>
void timed(DeviceTask& task, Work const& work) {
  if (task.timer == nullptr) return work();
  auto& timer = *task.timer;
  timer.begin(task.row);
  try {
    work();
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

void begin_statement(DeviceTask& task) {
  timed(task, [&] { bring_cells(task); });
}

void end_statement(DeviceTask& task) {
  timed(task, [&] { compute_cells(task); });
}

void execute_statement(DeviceTask& task) {
  timed(task, [&] {
    bring_cells(task);
    compute_cells(task);
  });
}

void exchange_cells(DeviceTask& task) {
  exchange(task);
  copy_locally(task);
}

bool channels_hold_messages(DevicePlan const& plan) {
  bool const is_one_exchange = plan.forwarded.path == nullptr;
  return is_one_exchange && std::ranges::all_of(plan.sends, [&](Message const& message) {
           return plan.path->holds_whole(message);
         });
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
  task.let_go();
}

}  // namespace tessera
