#include "src/runtime/engine.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/execution/gpu_channels/gpu_routes.hpp"
#include "src/execution/one_sided/one_sided.hpp"
#include "src/execution/reduction_tree.hpp"
#include "src/plan/costs.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/array_allocator.hpp"
#include "src/runtime/device_calls.hpp"
#include "src/runtime/devices/device_pool.hpp"
#include "src/runtime/devices/dispatcher.hpp"
#include "src/runtime/devices/failure_policy.hpp"
#include "src/runtime/devices/loop_dispatcher.hpp"
#include "src/runtime/listener.hpp"
#include "src/runtime/local_devices.hpp"
#include "src/runtime/profiler/budget_stack.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/runtime/statement_planner.hpp"
#include "src/runtime/statements/statement_log.hpp"
#include "src/runtime/statements/statement_summary.hpp"
#include "src/runtime/tree_collectives.hpp"
#include "src/statement/numbers.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

void check_arrays(Statement const& statement) {
  if (statement.target != nullptr) {
    detail::check_runtime(*statement.target);
    check_closed(*statement.target, "a statement");
  }
  for (auto const& operand : statement.operands) {
    detail::check_runtime(*operand.array);
    check_closed(*operand.array, "a statement");
  }
  for (auto const& scalar : statement.scalars) detail::check_runtime(*scalar);
}

void check_arrays(Operation const& operation) {
  for (auto const* statement : operation.statements) check_arrays(*statement);
}

void check_target(Statement const& statement) {
  if (statement.target != nullptr) check_writable(*statement.target);
}

// Updates the halo validity after the statement: the same on every process.
void note_effects(Statement const& statement, CompiledStatement const& plan) {
  for (std::size_t l = 0; l < plan.fills.size(); ++l)
    if (plan.fills[l] != nullptr)
      statement.operands[l].array->halo_validity().note_fill(plan.fills[l]);
  if (statement.target == nullptr) return;
  auto& halo_validity = statement.target->halo_validity();
  if (plan.overwrites || statement.writes_slabs())
    halo_validity.clear();
  else
    halo_validity.note_write(statement.work.map.image(statement.work.indices));
}

// The same after an operation, whose steps fill no ghost cells.
void note_effects(Operation const& operation) {
  for (auto const* statement : operation.statements) {
    auto const& work = statement->work;
    auto& halo_validity = statement->target->halo_validity();
    bool const reads_elsewhere = std::any_of(
        statement->operands.begin(), statement->operands.end(), [&](OperandRequest const& operand) {
          return operand.array == statement->target && !(operand.access.map == work.map);
        });
    if (reads_elsewhere)
      halo_validity.clear();
    else
      halo_validity.note_write(work.map.image(work.indices));
  }
}

// While the job ends in an error, another one only gets a line.
template <class F>
void log_what_throws(F const& f) {
  try {
    f();
  } catch (std::exception const& error) {
    log_error(error.what());
  }
}

}  // namespace

struct Engine::Impl {
  Impl(Bootstrap& bootstrap, LocalDevices const& local, NetworkOptions const& options)
      : job(bootstrap, local.count),
        network(bootstrap, job, options),
        devices(bootstrap, job, network, log, local),
        asked(ObserverOptions::from_environment(bootstrap)),
        gpu_routes({bootstrap, job, network, devices.queue_contexts(),
                    [this] { devices.synchronize(); }, local.communicators}) {
    network.set_idle_test([this](DeviceId device) { return devices.context(device).is_idle(); });
  }

  ~Impl() { devices.stop(); }

  // A statement or an operation.
  template <class Call>
  void run_guarded(Call const& call) {
    tell_listeners([&](Listener& listener) { listener.note(call); });
    failures.guarded([&] { run(call); });
    // Thrown outside `guarded`, since it is no failure: every process throws it, and all may
    // continue.
    if (refusal) throw BudgetExceeded(std::exchange(refusal, {})->reason);
  }

  void run(Statement const& statement) {
    planner.describe(statement);
    auto tag = log.begin(planner.hash_of(statement), statement.location);
    if (log.compares()) compare(tag, statement);
    auto const& plan = planner.plan_for(statement, tag);
    if (budgets->watches() && !is_allowed(statement, *plan, tag)) return;
    auto const row = profiler.row_of(statement, *plan);
    if (statement.is_reduction()) {
      if (!statement.reduction.on_each) trees.open(tag);
      devices.make_room(statement.reduction);
    }
    dispatcher.post({statement, plan, tag, row});
    note_effects(statement, *plan);
    profiler.count(statement, *plan);
    if (dispatcher.needs_this_thread(statement, *plan)) devices.drain_messages();
  }

  void run(Operation const& operation) {
    planner.describe(operation);
    auto tag = log.begin(planner.hash_of(operation), operation.location);
    if (log.compares()) compare(tag, operation);
    auto const& plan = planner.plan_for(operation, tag);
    if (budgets->watches() && !is_allowed(operation, plan, tag)) return;
    auto const row = profiler.row_of(operation, plan);
    bool needs_this_thread = false;
    for (auto const& step : plan.steps) {
      auto const& statement = *operation.statements[step.statement];
      auto tag_of_step = tag;
      tag_of_step.hash = mix(tag.hash, step.place);
      dispatcher.post({statement, step.plan, tag_of_step, row, true});
      needs_this_thread = needs_this_thread || dispatcher.needs_this_thread(statement, *step.plan);
    }
    note_effects(operation);
    profiler.count(operation, plan);
    if (needs_this_thread) devices.drain_messages();
  }

  // The first statement has the operands, and the last one the target.
  void compare(StatementTag tag, Operation const& operation) {
    auto const& statements = operation.statements;
    if (log.compares_numbers())
      for (auto const* statement : statements) tag.hash = mix(tag.hash, hash_with_step(*statement));
    log.compare(tag, [first = Summary(*statements[0]),
                      last = Summary(*statements[statements.size() - 1]), steps = operation.steps] {
      return text(first.describe(), "; written ", steps->words(), "; its last statement is ",
                  last.describe());
    });
  }

  // Numbers are compared apart from the tag, so that a message does not tell of them first: the
  // other process's are in no header.
  void compare(StatementTag tag, Statement const& statement) {
    Summary summary(statement);
    if (log.compares_numbers()) {
      tag.hash = mix(tag.hash, hash_with_step(statement));
      summary.add_numbers(statement);
    }
    log.compare(tag, [summary = std::move(summary)] { return summary.describe(); });
  }

  void compare(char const* kind, ArrayModel const& array, PassNumbers const& pass) {
    HashNumbers hash;
    ListNumbers list;
    pass(hash);
    pass(list);
    auto tag = log.begin(mix(hash_text(kind), mix(array.number(), array.layout()->fingerprint())),
                         SourceLocation());
    tag.hash = mix(tag.hash, hash.hash());
    log.compare(tag, [kind, number = array.number(), layout = array.layout(), list = list.list()] {
      return text(kind, " of array ", number, ' ', layout->shape(), " with numbers [", list,
                  "]; on ", layout->sharding());
    });
  }

  // Checks the budgets. The communication for that has its own statement number, so the statement,
  // or operation, gets a new one.
  template <class Call, class Plan>
  bool is_allowed(Call const& call, Plan& plan, StatementTag& tag) {
    auto const expense = detail::expense_of(call, plan);
    auto numbers = budgets->numbers_for(expense);
    if (!numbers.empty() && job.process_count() > 1) {
      collectives.combine(std::as_writable_bytes(std::span(numbers)), max_numbers,
                          {"where a budget asks what is sent", 0, budgets->fingerprint()},
                          call.location);
      tag = log.begin(planner.hash_of(call), call.location);
    }
    refusal = budgets->charge(expense, numbers);
    return !refusal;
  }

  void finish() {
    devices.synchronize();
    log.compare_end();
    profiler.show(job, network.refused(), [this](std::span<std::byte> bytes, CombineBytes how) {
      collectives.combine(bytes, how, {"where the report is put together"});
    });
    gpu_routes.release();
    network.finish();
  }

  void announce(std::exception_ptr const& error) {
    failures.announce(error);
    network.serve_for(std::chrono::milliseconds(job.process_count() == 1 ? 0 : 50));
  }

  void end_in_error(std::exception_ptr const& error) {
    using std::chrono::milliseconds, std::chrono::seconds;
    announce(error);
    if (profiler.observes() && failures.quiesce_workers())
      profiler.show_alone(job, network.refused());
    if (job.process_count() == 1) return;
    // The others have files to write, too.
    if (profiler.observes())
      network.serve_until_all_end({.beside_living = seconds(30), .beside_dead = seconds(5)});
    else
      network.serve_for(milliseconds(300));
  }

  std::uint64_t number = ++detail::current_runtime.engines;
  Job job;
  Machine machine{job.hosts(), Costs::from_environment(), AxisRoles::from_environment()};
  Network network;
  StatementLog log{network};
  DevicePool devices;
  ObserverOptions asked;
  Profiler profiler{asked, job};
  GpuRoutes gpu_routes;
  ReductionTrees trees{job, network};
  FailurePolicy failures{job, network, devices, gpu_routes};
  Dispatcher dispatcher{devices, trees, profiler};
  TreeCollectives collectives{{job, log, devices, trees, dispatcher, failures}};
  StatementPlanner planner{job, machine, {network, gpu_routes}, devices, profiler};
  LoopDispatcher loops{{log, devices, trees, dispatcher, profiler, {network, gpu_routes}}};
  ArrayAllocator arrays{job, devices, failures, number};
  std::shared_ptr<detail::BudgetStack> budgets =
      std::make_shared<detail::BudgetStack>(asked.is_strict, job.local_count());
  std::optional<detail::Refusal> refusal;  ///< of the last statement
  OneSided one_sided{collectives, network, job, devices.traits()};
  std::shared_ptr<Layout const> on_all = std::make_shared<Layout const>(
      NamedSharding(Mesh({{"all", job.device_count()}}), P(none)), Shape{1});
};

Engine::Engine(Bootstrap& bootstrap, LocalDevices const& devices, NetworkOptions const& options)
    : impl_(std::make_unique<Impl>(bootstrap, devices, options)) {}
Engine::~Engine() = default;

std::uint64_t Engine::number() const {
  return impl_->number;
}
Job const& Engine::job() const {
  return impl_->job;
}
Machine const& Engine::machine() const {
  return impl_->machine;
}
DeviceKind Engine::device_kind() const {
  return impl_->devices.kind();
}
QueueTraits const& Engine::device_traits() const {
  return impl_->devices.traits();
}
Network& Engine::network() {
  return impl_->network;
}
ArrayAllocator& Engine::arrays() {
  return impl_->arrays;
}
TreeCollectives& Engine::collectives() {
  return impl_->collectives;
}
Profiler& Engine::profiler() {
  return impl_->profiler;
}
std::shared_ptr<detail::BudgetStack> const& Engine::budgets() {
  return impl_->budgets;
}
bool Engine::checks_recordings() const {
  return impl_->asked.checks_recordings;
}
bool Engine::checks_communication() const {
  return impl_->asked.checks_communication;
}

OneSided& Engine::one_sided() {
  note_host_access();
  return impl_->one_sided;
}

void Engine::run(Statement const& statement) {
  check_arrays(statement);
  check_target(statement);
  impl_->dispatcher.check_kernel(statement);
  impl_->run_guarded(statement);
}

void Engine::run(Operation const& operation) {
  check_arrays(operation);
  for (auto const* statement : operation.statements) {
    check_target(*statement);
    impl_->dispatcher.check_kernel(*statement);
  }
  impl_->run_guarded(operation);
}

void Engine::replay(Statement const& statement) {
  check_arrays(statement);
  impl_->run_guarded(statement);
}

void Engine::replay(Operation const& operation) {
  check_arrays(operation);
  impl_->run_guarded(operation);
}

void Engine::compare_numbers(char const* kind, ArrayModel const& array, PassNumbers const& pass) {
  impl_->failures.guarded([&] { impl_->compare(kind, array, pass); });
}

void Engine::catch_up_on_numbers() {
  if (impl_->log.compares_numbers()) impl_->failures.guarded([&] { impl_->log.catch_up(); });
}

std::shared_ptr<Layout const> const& Engine::layout_on_all() const {
  return impl_->on_all;
}

std::shared_ptr<ScalarState> Engine::make_scalar() {
  return impl_->arrays.make_scalar();
}

void Engine::open_channels(Loop& loop) {
  impl_->failures.guarded([&] { impl_->loops.open_channels(loop); });
}

void Engine::run(LoopRun const& run) {
  LoopDispatcher::Work work;  // workers use it until `guarded` has seen them end
  impl_->failures.guarded([&] { impl_->loops.run(run, work); });
}

void Engine::synchronize() {
  impl_->collectives.synchronize();
}

void Engine::on_local_devices(std::function<void(DeviceId)> const& f) {
  note_host_access();
  call_on_devices(f, impl_->dispatcher, impl_->devices, impl_->failures);
}

void Engine::finish() {
  impl_->failures.guarded([&] { impl_->finish(); });
}

std::exception_ptr Engine::failure() const {
  return impl_->network.failure().error();
}

void Engine::announce(std::exception_ptr const& error) noexcept {
  log_what_throws([&] { impl_->announce(error); });
}

void Engine::end_in_error(std::exception_ptr const& error) noexcept {
  log_what_throws([&] { impl_->end_in_error(error); });
}

}  // namespace tessera
