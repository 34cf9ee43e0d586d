#include "tessera/exchange/engine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/launch.hpp"
#include "tessera/device/worker.hpp"
#include "tessera/exchange/local_devices.hpp"
#include "tessera/exchange/one_sided.hpp"

#include "array_pool.hpp"
#include "budget_stack.hpp"
#include "compile.hpp"
#include "execute_on_gpu.hpp"
#include "gpu_routes.hpp"
#include "loop_arrays.hpp"
#include "observer.hpp"
#include "plan_cache.hpp"
#include "record.hpp"
#include "run_loop.hpp"
#include "summary.hpp"
#include "targets.hpp"
#include "trees.hpp"

namespace tessera {

Watcher* detail::watcher_of_moves = nullptr;

namespace {

Engine* living_engine = nullptr;
std::thread::id living_thread;  // that made it
bool calling_user = false;

// While a function of the user's runs on the workers.
struct CallingUser {
  CallingUser() { calling_user = true; }
  ~CallingUser() { calling_user = false; }
  CallingUser(CallingUser const&) = delete;
  CallingUser& operator=(CallingUser const&) = delete;
};

// Everything one local device has for itself.
struct DeviceSlot {
  DeviceId device;
  Waiter* waiter = nullptr;
  std::unique_ptr<Worker> worker;  // none where the only device runs on the caller's thread
  std::deque<Record> records;      // as many as the worker's ring holds
  std::unique_ptr<GpuSide> gpu;    // none on the host
  DeviceMemory scratch;
  HostMemory accumulator;

  [[nodiscard]] std::shared_ptr<GpuStream> stream() const {
    return gpu == nullptr ? nullptr : gpu->stream;
  }
};

// Room for an expression with its literals; longer ones are rare.
constexpr std::int64_t usual_kernel_bytes = 1024;

void run_record(void* record) {
  execute(*static_cast<Record*>(record));
}

}  // namespace

struct Engine::Impl {
  Impl(Bootstrap& bootstrap, LocalDevices const& devices, NetworkOptions const& options)
      : job(bootstrap, devices.count),
        kind(devices.kind),
        network(bootstrap, job, options),
        trees(job, network) {
    for (std::int64_t i = 0; i < job.local_count(); ++i)
      add_device(i,
                 devices.streams.empty() ? nullptr : devices.streams[static_cast<std::size_t>(i)]);
    auto const asked = ObserverOptions::from_environment(bootstrap);
    budgets = std::make_shared<detail::BudgetStack>(asked.is_strict);
    checks_recordings = asked.checks_recordings;
    if (asked.reports || asked.traces) observer = std::make_unique<Observer>(asked, job);
    if (kind != DeviceKind::cpu) open_gpu_routes(bootstrap, devices.nccl_communicators);
    network.set_idle_test([this](DeviceId device) {
      auto const& worker = slots[static_cast<std::size_t>(job.local_index(device))].worker;
      return worker == nullptr || worker->idle();
    });
  }

  // All workers end before anything that they may still use: messages, scratch memory, records.
  ~Impl() {
    for (auto& slot : slots) slot.worker.reset();
    for (auto& slot : slots)
      if (slot.gpu != nullptr) come_to_rest(*slot.gpu->stream);
  }

  // After a failure nothing is left to be said.
  static void come_to_rest(GpuStream& stream) noexcept {
    try {
      wait_for(stream);
    } catch (DeviceError const&) {
      return;
    }
  }

  void add_device(std::int64_t i, std::shared_ptr<GpuStream> const& stream) {
    auto& slot = slots.emplace_back();
    slot.device = DeviceId{job.first_local().value() + i};
    local_devices.push_back({slot.device, stream});
    if (stream != nullptr) slot.gpu = std::make_unique<GpuSide>(stream);
    bool const alone = job.local_count() == 1;
    slot.waiter = alone ? &network.caller_waiter() : &network.worker_waiter(slot.device);
    slot.records.resize(alone ? 1 : Worker::capacity);
    for (auto& record : slot.records) {
      record.buffers.reserve(max_leaves);
      record.targets.reserve(1);
      record.scalars.reserve(max_scalars);
      record.keeps.reserve(max_leaves + max_scalars + 2);
      record.carry.reserve(max_leaves);
      record.kernel = HostMemory(usual_kernel_bytes);
    }
    if (!alone)
      slot.worker = std::make_unique<Worker>([this](std::exception_ptr error) { fail(error); }, i);
  }

  void open_gpu_routes(Bootstrap& bootstrap, std::vector<ncclComm*> const& communicators) {
    std::vector<GpuSide*> sides;
    for (auto& slot : slots) sides.push_back(slot.gpu.get());
    gpu_routes = std::make_unique<GpuRoutes>(GpuRouteTools{
        bootstrap, job, network, std::move(sides), [this] { synchronize(); }, communicators});
  }

  // Threads: any.
  void fail(std::exception_ptr const& error) { network.failure().set(error); }

  // Runs `f`; what it throws is the end of this process's part, and the others are told.
  template <class F>
  void guarded(F const& f) {
    try {
      network.failure().throw_if_set();
      f();
    } catch (...) {
      give_up(std::current_exception());
      throw;
    }
  }

  // Keeps the failure, tells the others once, and waits until no worker uses what callers own:
  // their waits end by the failure.
  void give_up(std::exception_ptr const& error) {
    fail(error);
    if (!has_announced) network.announce_failure(error);
    has_announced = true;
    for (auto& slot : slots)
      while (slot.worker != nullptr && !slot.worker->idle())
        network.linger(std::chrono::milliseconds(1));
    if (gpu_routes == nullptr) return;
    // The announcement leaves before anything else that may take its time.
    network.linger(std::chrono::milliseconds(20));
    gpu_routes->abandon();
  }

  StatementTag next_tag(std::uint64_t hash, Place const& place) {
    last_tag = {++statements, hash, place};
    network.set_last_statement(last_tag);
    return last_tag;
  }

  // Where the processes compare their statements: says which this is, in words if asked.
  template <class Describe>
  void agree(StatementTag const& tag, Describe describe) {
    auto const after = tag.place.known() ? Place() : known_place;
    if (tag.place.known()) known_place = tag.place;
    network.agree(tag, [after, describe = std::move(describe)] {
      return text(after.known() ? text(" (after ", after, ')') : "", ", ", describe());
    });
  }

  Awaited awaited_worker(DeviceSlot const& slot) const {
    Awaited what;
    what.kind = Awaited::Kind::worker;
    what.self = slot.device;
    what.peer = slot.device;
    return what;
  }

  // A free record of the device: waits where its ring is full.
  Record& free_record(DeviceSlot& slot) {
    if (slot.worker == nullptr) return slot.records.front();
    if (!slot.worker->has_room())
      network.caller_waiter().until([&] { return slot.worker->has_room(); }, awaited_worker(slot));
    return slot.records[slot.worker->posted() % Worker::capacity];
  }

  void start(DeviceSlot& slot, Record& record) {
    if (slot.worker != nullptr) {
      slot.worker->post({run_record, &record});
      return;
    }
    execute(record);
  }

  void wait_for_workers() {
    for (auto& slot : slots)
      if (slot.worker != nullptr && !slot.worker->idle())
        network.caller_waiter().until([&] { return slot.worker->idle(); }, awaited_worker(slot));
  }

  // What the workers have brought to their GPUs.
  void wait_for_gpus() {
    if (kind == DeviceKind::cpu) return;
    for (auto& slot : slots) {
      auto what = awaited_worker(slot);
      what.kind = Awaited::Kind::gpu;
      what.statement = last_tag;
      auto& side = *slot.gpu;
      network.caller_waiter().until(
          [&] {
            side.check_group();
            return side.stream->is_idle();
          },
          what);
    }
  }

  // Until the messages of all statements so far have been sent and received: GPUs go on.
  void finish_messages() {
    wait_for_workers();
    if (network.has_pending()) network.drain(last_tag);
    network.failure().throw_if_set();
  }

  void synchronize() {
    wait_for_workers();
    wait_for_gpus();
    finish_messages();
  }

  // Until the next statement's.
  std::shared_ptr<CompiledStatement> const& plan_for(Statement const& statement,
                                                     StatementTag const& tag) {
    if (auto const* found = cache.find(key)) return *found;
    auto const modes = choose_modes(statement);
    if (needs_growth(statement, modes)) {
      synchronize();
      grow_ghosts(statement, modes);
      key.describe(statement);
    }
    ++totals.plans_made;
    auto plan = compile(statement, modes, tag, job, {network, gpu_routes.get()});
    need_room(*plan);
    return cache.insert(key, std::move(plan));
  }

  void need_room(CompiledStatement& plan) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto const& device = plan.devices[i];
      auto& slot = slots[i];
      if (device.scratch_bytes > slot.scratch.size_bytes()) {
        synchronize();
        slot.scratch = DeviceMemory(device.scratch_bytes, slot.stream());
      }
      auto const& any = slot.records.front();
      if (device.buffers.size() <= any.buffers.capacity() &&
          device.writes.size() <= any.targets.capacity())
        continue;
      synchronize();
      for (auto& record : slot.records) {
        record.buffers.reserve(device.buffers.size());
        record.targets.reserve(device.writes.size());
      }
    }
  }

  std::uint64_t hash_of(Statement const& statement) const {
    auto hash = fold(statement.type_hash, key.hash());
    if (statement.target != nullptr) hash = fold(hash, statement.target->number());
    for (auto const& leaf : statement.leaves) hash = fold(hash, leaf.array->number());
    for (auto const& scalar : statement.scalars) hash = fold(hash, ~scalar->number());
    return scramble(hash);
  }

  void run(Statement const& statement) {
    key.describe(statement);
    auto tag = next_tag(hash_of(statement), statement.place);
    if (network.compares_statements())
      agree(tag, [summary = Summary(statement)] { return summary.describe(); });
    auto const& plan = plan_for(statement, tag);
    if (budgets->watches() && !is_allowed(statement, *plan, tag)) return;
    row = observer == nullptr ? 0 : observer->note(statement, *plan);
    if (statement.is_reduction()) prepare_reduction(statement, tag);
    for (std::size_t i = 0; i < slots.size(); ++i) post(slots[i], plan, i, statement, tag);
    note_effects(statement, *plan);
    ++totals.statements;
    totals.messages += plan->messages;
    totals.bytes += plan->bytes;
    if (sink != nullptr) sink->statements.push_back(explanation_of(*plan, statement));
    if (needs_this_thread(*plan) || (statement.is_reduction() && trees.needs_this_thread()))
      finish_messages();
  }

  void note_host_access() {
    if (watcher != nullptr) watcher->note_host_access();
  }

  void run(LoopRun const& run, std::vector<LoopArguments>& arguments,
           std::function<void(Record&)>& call) {
    auto const& loop = run.loop;
    auto const blocks = static_cast<std::uint64_t>(run.blocks);
    auto const tag = next_tag(mix(loop.hash, mix(blocks, bits_of(loop.steps))), loop.place);
    if (network.compares_statements())
      agree(tag, [words = loop.words, steps = run.blocks * loop.steps] {
        return text(counted(steps, "step"), " of ", words);
      });
    synchronize();
    for (std::size_t i = 0; i < slots.size(); ++i)
      arguments[i] = arguments_of(run, slots[i].device, i);
    auto const loop_row = observer == nullptr ? 0 : observer->note(loop, run.blocks);
    call = [this, &arguments, loop_row](Record& record) {
      auto const index = static_cast<std::size_t>(job.local_index(record.device));
      record.probe = observer == nullptr ? nullptr : &observer->probe(index);
      if (record.probe != nullptr) record.probe->begin(loop_row);
      run_loop(record, arguments[index]);
      if (record.probe != nullptr) record.probe->end();
    };
    for (auto& slot : slots) post_call(slot, tag, nullptr, call);
    synchronize();
    tessera::note_effects(run);
    totals.statements += run.blocks * loop.steps * loop.statements;
    totals.messages += loop.first->messages + (run.blocks - 1) * loop.later->messages;
    totals.bytes += loop.first->bytes + (run.blocks - 1) * loop.later->bytes;
  }

  void open_channels(Loop& loop) {
    auto const tag = next_tag(mix(loop.hash, bits_of(loop.steps)), loop.place);
    agree(tag, [words = loop.words] { return text("the channels of ", words); });
    for (auto const& plan : {loop.first, loop.later}) {
      need_room(*plan);
      tessera::open_channels(*plan, tag, {network, gpu_routes.get()});
      note_totals(*plan);
    }
  }

  double meeting_seconds() {
    if (job.process_count() == 1) return 0;
    constexpr int rounds = 4;  // the first one opens channels
    Meeting const meeting{"where the time of a message is measured"};
    std::array<std::int64_t, 1> least{std::numeric_limits<std::int64_t>::max()};
    for (int round = 0; round < rounds; ++round) {
      std::array<std::int64_t, 1> nothing{0};
      auto const begin = Probe::now();
      combine(std::as_writable_bytes(std::span(nothing)), max_numbers, meeting, {});
      if (round > 0) least[0] = std::min(least[0], Probe::now() - begin);
    }
    combine(std::as_writable_bytes(std::span(least)), max_numbers, meeting, {});
    return static_cast<double>(least[0]) * 1e-9;
  }

  Caches least_caches() {
    if (caches) return *caches;
    caches = core_caches();
    if (job.process_count() > 1) {
      std::array<std::int64_t, 2> negative{-caches->nearest, -caches->second};
      combine(std::as_writable_bytes(std::span(negative)), max_numbers,
              {"where the sizes of caches are compared"}, {});
      caches = Caches{-negative[0], -negative[1]};
    }
    return *caches;
  }

  // Asks the budgets. What the processes tell each other meanwhile has a number of its own, so the
  // statement gets a new one.
  bool is_allowed(Statement const& statement, CompiledStatement& plan, StatementTag& tag) {
    auto numbers = budgets->numbers_for(plan);
    if (!numbers.empty() && job.process_count() > 1) {
      combine(std::as_writable_bytes(std::span(numbers)), max_numbers,
              {"where a budget asks what is sent", 0, budgets->fingerprint()}, statement.place);
      tag = next_tag(hash_of(statement), statement.place);
    }
    refusal = budgets->charge(statement, plan, numbers);
    return refusal.empty();
  }

  // Replaces the bytes of every process by those of all combined.
  void combine(std::span<std::byte> bytes, CombineBytes how, Meeting const& meeting,
               Place const& place) {
    std::function<void(Record&)> const call = [&](Record& record) {
      combine_along_tree(record, bytes, how);
    };
    finish_messages();
    auto const hash = mix(hash_text(meeting.purpose), mix(meeting.array, meeting.details));
    auto const tag = next_tag(mix(hash, bytes.size()), place);
    agree(tag, [meeting, size = static_cast<std::int64_t>(bytes.size())] {
      return text(meeting.purpose, meeting.array == 0 ? "" : text(" of array ", meeting.array),
                  ", ", counted(size, "byte"));
    });
    trees.open(tag);
    post_call(slots.front(), tag, &trees.across(), call);
    finish_messages();
  }

  void check_devices(Layout const& layout) const {
    auto const last = layout.mesh().last_device().value();
    if (last < job.device_count()) return;
    throw ShardingError(text(
        "the mesh names device ", last, " but the job has ", counted(job.device_count(), "device"),
        ", 0 to ", job.device_count() - 1, "; ask device_count() or start more processes"));
  }

  // A process with fewer statements than others is found here.
  void agree_on_the_end() {
    StatementTag const end{statements + 1, hash_text("the end of the program"), {}};
    auto const count = static_cast<std::int64_t>(statements);
    network.agree_on_end(end, [count, place = known_place] {
      return text(", after ", counted(count, "statement"),
                  place.known() ? text(" (", place, ')') : "");
    });
  }

  // At the end of the program, when the workers have nothing to do.
  void show_what_was_observed() {
    if (observer == nullptr) return;
    observer->write_trace();
    if (!observer->options().reports) return;
    auto const mine = static_cast<std::int64_t>(observer->fingerprint() >> 1U);
    std::array<std::int64_t, 2> ends{mine, -mine};
    Meeting const report{"where the report is put together"};
    combine(std::as_writable_bytes(std::span(ends)), max_numbers, report, {});
    auto numbers = observer->numbers();
    bool const comparable = ends[0] == -ends[1];
    if (comparable) {
      combine_part<ReportSums>(numbers, add_numbers, report);
      combine_part<ReportMaxima>(numbers, max_numbers, report);
    }
    if (job.self() == ProcessId{0})
      observer->print_report(
          numbers, comparable ? "" : "the processes' statements stand at different places");
  }

  template <class Part>
  void combine_part(std::vector<ReportNumbers>& numbers, CombineBytes how, Meeting const& meeting) {
    std::vector<Part> parts(numbers.begin(), numbers.end());
    combine(std::as_writable_bytes(std::span(parts)), how, meeting, {});
    for (std::size_t i = 0; i < parts.size(); ++i) static_cast<Part&>(numbers[i]) = parts[i];
  }

  // After an error nothing can be asked of the others.
  void show_what_was_observed_here() {
    if (observer == nullptr || !workers_come_to_rest()) return;
    observer->write_trace();
    if (observer->options().reports && job.self() == ProcessId{0})
      observer->print_report(observer->numbers(), "the program ends in an error");
  }

  bool workers_come_to_rest() {
    auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    auto const rests = [](auto const& slot) {
      return slot.worker == nullptr || slot.worker->idle();
    };
    while (!std::all_of(slots.begin(), slots.end(), rests)) {
      if (std::chrono::steady_clock::now() > end) return false;
      network.linger(std::chrono::milliseconds(10));
    }
    return true;
  }

  void end_in_error(std::exception_ptr const& error) {
    fail(error);
    if (!std::exchange(has_announced, true)) network.announce_failure(error);
    network.linger(std::chrono::milliseconds(job.process_count() == 1 ? 0 : 50));
    show_what_was_observed_here();
    // Longer where the others have files to write.
    std::chrono::milliseconds const time(observer == nullptr ? 300 : 2000);
    if (job.process_count() > 1) network.linger(time);
  }

  // Channels that this thread has to drive: asked of the ends themselves, whose route may have
  // changed since the plan was made.
  static bool needs_this_thread(CompiledStatement const& plan) {
    auto const driven = [](Message const& message) {
      auto const& end = message.sender != nullptr ? message.sender->end() : message.receiver->end();
      return end.doorbell != nullptr;
    };
    return std::any_of(plan.devices.begin(), plan.devices.end(), [&](DevicePlan const& device) {
      return std::any_of(device.sends.begin(), device.sends.end(), driven) ||
             std::any_of(device.receives.begin(), device.receives.end(), driven);
    });
  }

  // Everything that changes from run to run, from the caller's view of the arrays.
  void post(DeviceSlot& slot, std::shared_ptr<CompiledStatement> const& compiled, std::size_t index,
            Statement const& statement, StatementTag const& tag) {
    auto const& plan = compiled->devices[index];
    bool const idle = plan.sends.empty() && plan.receives.empty() && plan.copies.empty() &&
                      plan.parts.empty() && !statement.is_reduction();
    if (idle) return;
    auto& record = free_record(slot);
    record.kind = Record::Kind::statement;
    record.tag = tag;
    record.device = slot.device;
    record.waiter = slot.waiter;
    record.gpu = slot.gpu.get();
    record.outlives_statement = slot.worker != nullptr;
    if (record.outlives_statement) record.compiled = compiled;
    record.plan = &plan;
    record.forms = statement.forms;
    record.step = statement.step;
    copy_kernel(record, statement);
    record.scratch = slot.scratch.data();
    record.probe = observer == nullptr ? nullptr : &observer->probe(index);
    record.row = row;
    name_leaves(record, slot, statement, plan);
    targets.name(record, statement.target, slot.device);
    name_result(record, slot, statement);
    start(slot, record);
  }

  static void copy_kernel(Record& record, Statement const& statement) {
    if (record.kernel.size_bytes() < statement.kernel_bytes)
      record.kernel = HostMemory(statement.kernel_bytes);
    std::copy_n(static_cast<std::byte const*>(statement.kernel), statement.kernel_bytes,
                record.kernel.data());
    record.kernel_bytes = statement.kernel_bytes;
    record.copied_bytes = statement.copied_bytes();
  }

  void name_leaves(Record& record, DeviceSlot const& slot, Statement const& statement,
                   DevicePlan const& plan) const {
    record.buffers.clear();
    record.scalars.clear();
    record.keeps.clear();
    for (auto const& [leaf, box] : plan.buffers)
      record.buffers.push_back(statement.leaves[leaf].array->shards_of(slot.device)[box].cells());
    for (auto const& leaf : statement.leaves) record.keep(leaf.array);
    for (auto const& scalar : statement.scalars) {
      record.scalars.push_back(scalar->value(job.local_index(slot.device)));
      record.keep(scalar);
    }
  }

  void name_result(Record& record, DeviceSlot& slot, Statement const& statement) {
    record.accumulator = nullptr;
    if (!statement.is_reduction()) return;
    record.reduction = statement.reduction;
    record.accumulator = slot.accumulator.data();
    record.result = statement.result->value(job.local_index(slot.device));
    record.tree = &trees.of_device(static_cast<std::size_t>(job.local_index(slot.device)));
    record.keep(statement.result);
  }

  // One that nobody names any more serves again: a reduction in a loop allocates nothing. Each copy
  // of the value is written by one worker, in order, so no earlier record can come after the new
  // one.
  std::shared_ptr<ScalarState> make_scalar() {
    for (auto const& scalar : scalars)
      if (scalar.use_count() == 1) {
        scalar->set_number(++arrays);
        return scalar;
      }
    auto made = std::make_shared<ScalarState>(job.local_count(), ++arrays);
    constexpr std::size_t most_kept = 32;  // a program that keeps more gets new ones
    if (scalars.size() < most_kept) scalars.push_back(made);
    return made;
  }

  // What the statement did to freshness: the same on every process.
  static void note_effects(Statement const& statement, CompiledStatement const& plan) {
    for (std::size_t l = 0; l < plan.fills.size(); ++l)
      if (plan.fills[l] != nullptr) statement.leaves[l].array->freshness().note_fill(plan.fills[l]);
    if (statement.target == nullptr) return;
    auto& freshness = statement.target->freshness();
    if (plan.overwrites || statement.writes_slabs)
      freshness.clear();
    else
      freshness.note_write(statement.work.map.image(statement.work.indices));
  }

  void prepare_reduction(Statement const& statement, StatementTag const& tag) {
    trees.open(tag);
    for (auto& slot : slots) {
      if (slot.accumulator.size_bytes() >= statement.reduction.accumulator_bytes) continue;
      synchronize();
      slot.accumulator =
          HostMemory(std::max<std::int64_t>(statement.reduction.accumulator_bytes, 4096));
      if (slot.gpu == nullptr) continue;
      auto const parts = gpu_blocks_per_multiprocessor * slot.gpu->stream->multiprocessors();
      auto const bytes = parts * slot.accumulator.size_bytes();
      slot.gpu->accumulators = DeviceMemory(bytes, slot.gpu->stream);
      slot.gpu->parts = slot.gpu->stream->make_pinned(bytes);
    }
  }

  // Runs `call` on a device's worker; `call` lives until the next synchronize.
  void post_call(DeviceSlot& slot, StatementTag const& tag, TreeLinks* tree,
                 std::function<void(Record&)> const& call) {
    auto& record = free_record(slot);
    record.kind = Record::Kind::call;
    record.tag = tag;
    record.device = slot.device;
    record.waiter = slot.waiter;
    record.gpu = slot.gpu.get();
    record.tree = tree;
    record.call = &call;
    start(slot, record);
  }

  // A statement that no GPU of this process could compute: the same on every process.
  void check_kernel(Statement const& statement) const {
    if (kind != DeviceKind::cuda) return;
    if (!can_launch(*slots.front().gpu->stream, statement.forms, statement.copied_bytes()))
      throw KernelNotBuilt(text(
          "the ", statement.kind, " at ", statement.place,
          " has no kernel for GPUs, since no CUDA compiler has seen it; build the program with "
          "tessera_compile_as_cuda(target), or run it with TESSERA_DEVICE=host"));
  }

  Job job;
  DeviceKind kind;
  Network network;
  Trees trees;
  std::deque<DeviceSlot> slots;
  std::unique_ptr<GpuRoutes> gpu_routes;  ///< none where devices are no GPUs
  std::vector<LocalDevice> local_devices;
  PlanKey key;
  PlanCache cache;
  Statement builder;
  Targets targets;
  std::vector<std::shared_ptr<ScalarState>> scalars;
  ArrayPool pool;
  Counters totals;
  Explanations* sink = nullptr;
  Watcher* watcher = nullptr;
  StatementTag last_tag;
  Place known_place;  // of the last statement that has one
  std::shared_ptr<detail::BudgetStack> budgets;
  std::string refusal;                 // why a budget stopped the last statement
  std::unique_ptr<Observer> observer;  // where the environment asks for a report or a trace
  std::size_t row = 0;                 // of the statement under way, for the observer
  std::uint64_t statements = 0;
  std::uint64_t arrays = 0;
  bool has_announced = false;
  bool checks_recordings = false;
  std::unique_ptr<OneSided> one_sided;  // from its first use on
  std::optional<Caches> caches;         // the same
};

Engine::Engine(Bootstrap& bootstrap, LocalDevices const& devices, NetworkOptions const& options)
    : impl_(std::make_unique<Impl>(bootstrap, devices, options)) {}
Engine::~Engine() = default;

Job const& Engine::job() const {
  return impl_->job;
}
DeviceKind Engine::device_kind() const {
  return impl_->kind;
}
Network& Engine::network() {
  return impl_->network;
}
Counters Engine::counters() const {
  return impl_->totals;
}

std::shared_ptr<ArrayState> Engine::make_array(std::shared_ptr<Layout const> layout,
                                               std::int64_t element_bytes) {
  impl_->check_devices(*layout);
  // A shard beyond any address space is the caller's mistake: seen alike on every process.
  auto const largest = whole(layout->sharding().shard_shape(layout->shape()));
  (void)Frame::around(largest, GhostWidths::none(largest.rank()), element_bytes);
  auto const number = ++impl_->arrays;
  if (auto again = impl_->pool.take(*layout, element_bytes, number)) return again;
  try {
    auto made = std::make_shared<ArrayState>(std::move(layout), element_bytes, number,
                                             impl_->local_devices);
    impl_->pool.add(made);
    return made;
  } catch (DeviceError const&) {
    // Memory that only this process lacks: the others are released.
    if (impl_->job.process_count() > 1) impl_->give_up(std::current_exception());
    throw;
  }
}

std::shared_ptr<ArrayState> Engine::adopt_array(std::shared_ptr<Layout const> layout,
                                                std::int64_t element_bytes,
                                                std::span<BorrowedBox const> borrowed) {
  impl_->check_devices(*layout);
  return std::make_shared<ArrayState>(std::move(layout), element_bytes, ++impl_->arrays,
                                      impl_->local_devices, borrowed);
}

bool Engine::reaches(DeviceId device, std::byte const* address) const {
  auto const stream =
      impl_->slots[static_cast<std::size_t>(impl_->job.local_index(device))].stream();
  return stream == nullptr || stream->owns(address);
}

std::shared_ptr<ScalarState> Engine::make_scalar() {
  return impl_->make_scalar();
}

Statement& Engine::new_statement() {
  impl_->builder.clear();
  return impl_->builder;
}

void Engine::run(Statement const& statement) {
  // Whatever the end, the builder keeps no array alive.
  struct Clear {
    Statement& builder;
    ~Clear() { builder.clear(); }
  } const clear{impl_->builder};
  if (statement.target != nullptr) {
    check_writable(*statement.target);
    check_closed(*statement.target, "a statement");
  }
  for (auto const& leaf : statement.leaves) check_closed(*leaf.array, "a statement");
  impl_->check_kernel(statement);
  if (impl_->watcher != nullptr) impl_->watcher->note(statement);
  impl_->guarded([&] { impl_->run(statement); });
  // Thrown here, since it is no failure: every process throws it, and all may go on.
  if (!impl_->refusal.empty()) throw BudgetExceeded(std::exchange(impl_->refusal, {}));
}

void Engine::run(LoopRun const& run) {
  // Workers use them until `guarded` has seen them end, whatever happens.
  std::vector<LoopArguments> arguments(impl_->slots.size());
  std::function<void(Record&)> call;
  impl_->guarded([&] { impl_->run(run, arguments, call); });
}

void Engine::grow(ArrayState& array, GhostWidths const& widths) {
  if (array.widths().covers(widths)) return;
  impl_->guarded([&] {
    impl_->synchronize();
    array.grow(widths);
  });
}

std::int64_t Engine::holders(std::shared_ptr<ArrayState> const& array) {
  impl_->guarded([&] { impl_->synchronize(); });
  return array.use_count() - (impl_->pool.holds(array) ? 1 : 0);
}

std::int64_t Engine::holders(std::shared_ptr<ScalarState> const& scalar) {
  impl_->guarded([&] { impl_->synchronize(); });
  auto const& kept = impl_->scalars;
  return scalar.use_count() - std::count(kept.begin(), kept.end(), scalar);
}

Watcher* Engine::tell(Watcher* watcher) {
  detail::watcher_of_moves = watcher;
  return std::exchange(impl_->watcher, watcher);
}

bool Engine::is_told() const {
  return impl_->watcher != nullptr;
}

void Engine::open_channels(Loop& loop) {
  impl_->guarded([&] { impl_->open_channels(loop); });
}

double Engine::meeting_seconds() {
  double seconds = 0;
  impl_->guarded([&] { seconds = impl_->meeting_seconds(); });
  return seconds;
}

Caches Engine::least_caches() {
  Caches caches;
  impl_->guarded([&] { caches = impl_->least_caches(); });
  return caches;
}

std::string_view Engine::refuser() const {
  return impl_->budgets->refuser();
}

bool Engine::checks_recordings() const {
  return impl_->checks_recordings;
}

void Engine::synchronize() {
  impl_->note_host_access();
  impl_->guarded([&] { impl_->synchronize(); });
}

void Engine::on_local_devices(std::function<void(DeviceId)> const& f) {
  impl_->note_host_access();
  std::mutex mutex;
  std::exception_ptr first_error;
  std::function<void(Record&)> const call = [&](Record& record) {
    try {
      f(record.device);
    } catch (...) {
      std::lock_guard const guard(mutex);
      if (first_error == nullptr) first_error = std::current_exception();
    }
  };
  impl_->guarded([&] {
    // A user's function that calls Tessera would wait for itself: `engine()` refuses meanwhile.
    CallingUser const calling;
    for (auto& slot : impl_->slots) impl_->post_call(slot, {}, nullptr, call);
    impl_->synchronize();
  });
  if (first_error == nullptr) return;
  // Only this process may have seen it: the others are released, as by any failure.
  if (impl_->job.process_count() > 1) impl_->give_up(first_error);
  std::rethrow_exception(first_error);
}

void Engine::or_over_processes(std::span<std::byte> bytes, Place const& place,
                               Meeting const& meeting) {
  impl_->note_host_access();
  impl_->guarded([&] { impl_->combine(bytes, or_bytes, meeting, place); });
}

void Engine::guarded(std::function<void()> const& f) {
  impl_->guarded(f);
}

OneSided& Engine::one_sided() {
  impl_->note_host_access();
  if (impl_->one_sided == nullptr) impl_->one_sided = std::make_unique<OneSided>(*this);
  return *impl_->one_sided;
}

std::shared_ptr<detail::BudgetStack> const& Engine::budgets() {
  return impl_->budgets;
}

Explanations* Engine::explain_into(Explanations* sink) {
  return std::exchange(impl_->sink, sink);
}

void Engine::end_in_error(std::exception_ptr const& error) noexcept {
  try {
    impl_->end_in_error(error);
  } catch (std::exception const& another) {
    log_error(another.what());
  }
}

void Engine::finish() {
  impl_->guarded([&] {
    impl_->synchronize();
    impl_->agree_on_the_end();
    impl_->show_what_was_observed();
    if (impl_->gpu_routes != nullptr) impl_->gpu_routes->let_go();
    impl_->network.finish();
  });
}

Job const& job() {
  if (living_engine == nullptr)
    throw UsageError(
        "there is no tessera::Runtime; make one at the start of main, before the first array");
  return living_engine->job();
}

DeviceKind device_kind() {
  (void)job();
  return living_engine->device_kind();
}

Engine& engine() {
  (void)job();
  if (std::this_thread::get_id() != living_thread)
    throw UsageError(
        "Tessera was called from another thread than the one that made the Runtime, or "
        "from a function that the workers run; read what it needs before");
  if (calling_user)
    throw UsageError(
        "a function that Tessera runs on the devices called Tessera; read what it needs "
        "before, and capture the values");
  return *living_engine;
}

void detail::set_engine(Engine* engine) {
  living_engine = engine;
  living_thread = std::this_thread::get_id();
}

}  // namespace tessera
