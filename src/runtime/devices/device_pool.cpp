#include "src/runtime/devices/device_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/float_state.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/runtime/start/agreement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// Room for an expression with its literals; longer ones are rare.
constexpr std::int64_t usual_kernel_bytes = 1024;

// The caller's thread may have another floating-point state; and a function of the program that
// runs on a worker may leave one.
void run(TaskRunner& runner, DeviceTask& task) {
  DefaultFloatState const computing;
  runner.run(task);
}

void run_record(void* record) {
  auto& task = *static_cast<DeviceTask*>(record);
  run(*task.runner, task);
}

void reserve(DeviceTask& task) {
  task.buffers.reserve(max_operands);
  task.targets.reserve(1);
  task.scalars.reserve(max_scalars);
  task.keeps.reserve(max_operands + max_scalars + 2);
  task.carry.reserve(max_operands);
  task.kernel = HostMemory(usual_kernel_bytes);
}

// Errors are ignored: the failure has already been reported.
void drain(Queue& queue) noexcept {
  try {
    wait_for(queue);
  } catch (DeviceError const&) {
    return;
  }
}

// Says once that the devices take long to make, as thousands of threads do.
class SlowStart {
 public:
  explicit SlowStart(std::int64_t count) : count_(count) {}

  void made(std::int64_t so_far) {
    constexpr std::chrono::seconds patience{5};
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - began_;
    if (is_told_ || so_far == count_ || taken < patience) return;
    is_told_ = true;
    log_warning(text("this process has made ", so_far, " of its ", count_, " devices in ",
                     static_cast<int>(taken.count()), " s, and goes on; fewer start sooner"));
  }

 private:
  std::int64_t count_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool is_told_ = false;
};

Awaited awaited_worker(DeviceContext const& context) {
  Awaited what;
  what.kind = Awaited::Kind::worker;
  what.self = context.device;
  what.peer = context.device;
  return what;
}

}  // namespace

DevicePool::DevicePool(Bootstrap& bootstrap, Job const& job, Network& network,
                       StatementLog const& log, LocalDevices const& devices)
    : job_(job), network_(network), log_(log), kind_(devices.kind) {
  TESSERA_ASSERT(std::ssize(devices.queues) == job.local_count(), "each device has a queue");
  run_alike(bootstrap, [&] {
    auto const pairs = PairOptions::from_environment(devices.queues.front()->traits());
    SlowStart start(job.local_count());
    for (std::int64_t i = 0; i < job.local_count(); ++i) {
      add(i, devices.queues[static_cast<std::size_t>(i)], pairs);
      start.made(i + 1);
    }
  });
}

void DevicePool::add(std::int64_t index, std::shared_ptr<Queue> const& queue,
                     PairOptions const& pairs) {
  auto& context =
      contexts_.emplace_back(DeviceId{job_.first_local().value() + index}, queue, pairs);
  devices_.push_back({context.device, queue});
  bool const alone = job_.local_count() == 1;
  context.waiter =
      alone ? &network_.caller_wait_policy() : &network_.worker_wait_policy(context.device);
  context.tasks.resize(alone ? 2 : Worker::capacity);
  for (auto& task : context.tasks) {
    reserve(task);
    task.runner = &context.runner;
  }
  if (!alone) add_worker(context, index);
}

void DevicePool::add_worker(DeviceContext& context, std::int64_t index) {
  auto& failure = network_.failure();
  context.worker = std::make_unique<Worker>(
      [&failure](std::exception_ptr const& error) { failure.set(error); }, index);
  context.runner.work_for(*context.worker);
}

void DevicePool::stop() noexcept {
  for (auto& context : contexts_) context.worker.reset();
  drop_waiting();
  for (auto& context : contexts_) drain(*context.queue());
}

std::vector<QueueContext*> DevicePool::queue_contexts() {
  std::vector<QueueContext*> result;
  for (auto& context : contexts_) result.push_back(&context.queue_context);
  return result;
}

DeviceTask& DevicePool::free_task(DeviceContext& context) {
  if (context.worker == nullptr) {
    auto& tasks = context.tasks;
    return context.runner.last() == &tasks.front() ? tasks.back() : tasks.front();
  }
  if (!context.worker->has_room())
    network_.caller_wait_policy().until([&] { return context.worker->has_room(); },
                                        awaited_worker(context));
  return context.tasks[context.worker->posted() % Worker::capacity];
}

void DevicePool::start(DeviceContext& context, DeviceTask& task) {
  if (context.worker != nullptr) {
    context.worker->post({run_record, &task});
    return;
  }
  run(context.runner, task);
}

void DevicePool::drop_waiting() noexcept {
  for (auto& context : contexts_)
    if (context.worker == nullptr) context.runner.drop();
}

void DevicePool::finish_waiting() {
  for (auto& context : contexts_) {
    if (context.worker != nullptr || context.runner.last() == nullptr) continue;
    DefaultFloatState const computing;
    context.runner.finish();
  }
}

bool DevicePool::are_idle() const {
  return std::all_of(contexts_.begin(), contexts_.end(),
                     [](DeviceContext const& context) { return context.is_idle(); });
}

void DevicePool::wait_for_workers() {
  for (auto& context : contexts_)
    if (!context.is_idle())
      network_.caller_wait_policy().until([&] { return context.is_idle(); },
                                          awaited_worker(context));
}

// Waits for the work that the workers have given to their queues.
void DevicePool::wait_for_queues() {
  if (traits().is_eager) return;
  for (auto& context : contexts_) {
    auto what = awaited_worker(context);
    what.kind = Awaited::Kind::gpu;
    what.statement = log_.last();
    auto& given = context.queue_context;
    network_.caller_wait_policy().until(
        [&] {
          given.check_group();
          return given.queue->is_idle();
        },
        what);
  }
}

void DevicePool::finish_messages() {
  finish_waiting();
  drain_messages();
}

void DevicePool::drain_messages() {
  wait_for_workers();
  if (network_.has_pending()) network_.drain(log_.last());
  network_.failure().throw_if_set();
}

void DevicePool::synchronize() {
  finish_waiting();
  wait_for_workers();
  wait_for_queues();
  finish_messages();
}

void DevicePool::make_room(CompiledStatement const& plan) {
  for (std::size_t i = 0; i < contexts_.size(); ++i) {
    auto const& device = plan.devices[i];
    auto& context = contexts_[i];
    if (device.scratch_bytes > context.scratch.size_bytes()) {
      synchronize();
      context.scratch = DeviceMemory(device.scratch_bytes, context.queue());
    }
    auto const& any = context.tasks.front();
    if (device.buffers.size() <= any.buffers.capacity() &&
        device.writes.size() <= any.targets.capacity())
      continue;
    synchronize();
    for (auto& task : context.tasks) {
      task.buffers.reserve(device.buffers.size());
      task.targets.reserve(device.writes.size());
    }
  }
}

void DevicePool::make_room(Reduction const& reduction) {
  constexpr std::int64_t least_bytes = 4096;
  for (auto& context : contexts_) {
    if (context.accumulator.size_bytes() >= reduction.accumulator_bytes) continue;
    synchronize();
    context.accumulator = HostMemory(std::max(reduction.accumulator_bytes, least_bytes));
    if (traits().host_reaches_memory) continue;
    auto const& queue = context.queue();
    auto const bytes =
        gpu_blocks_per_multiprocessor * queue->multiprocessors() * context.accumulator.size_bytes();
    context.queue_context.accumulators = DeviceMemory(bytes, queue);
    context.queue_context.parts = queue->make_pinned(bytes);
  }
}

}  // namespace tessera
