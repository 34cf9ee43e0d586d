#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/array/erased/handle.hpp"

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/plan/loop_variables.hpp"
#include "src/runtime/engine.hpp"
#include "src/statement/operations/operation.hpp"
#include "src/statement/statement.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"
#include "support/left_out.hpp"

using namespace tessera;

/// What travels while a step of an operation computes. TESSERA_OVERLAP decides: see tests.cmake.
TEST_SUITE_BEGIN("runtime/steps");

namespace {

constexpr std::int64_t cells_each = 4;  // of a device
constexpr int step_count = 8;

/// What the kernels of one device have seen.
struct Seen {
  Sender const* to_next = nullptr;  ///< its messages go to the next device
  std::atomic<int> begun{0};        ///< steps whose kernels have begun
  int with_messages = 0;            ///< of these, how many began while a message was under way
};

std::vector<Seen>& all_seen() {
  static std::vector<Seen> devices;
  return devices;
}

// True once device 0 has begun its second step, whose message device 1 has not taken yet.
bool is_first_ahead() {
  return all_seen()[0].begun >= 2;
}

// The first kernel of device 1 lets device 0 go ahead, where that is allowed. Where it is not, it
// gives device 0 a moment in which to do so nevertheless.
void let_first_go_ahead() {
  using Clock = std::chrono::steady_clock;
  auto const patience = std::chrono::milliseconds(steps_overlap() ? 20'000 : 100);
  for (auto const end = Clock::now() + patience; !is_first_ahead() && Clock::now() < end;)
    std::this_thread::yield();
}

struct MoveKernel {
  int parity = 0;          ///< of the step
  bool lets_wait = false;  ///< devices 0 and 1 are those of one process
};

void begin_step(Seen& seen, std::int64_t device, MoveKernel const& kernel) {
  auto const step = seen.begun.load();
  if (step % 2 != kernel.parity) return;  // another part of a step that has begun
  if (seen.to_next != nullptr && seen.to_next->has_under_way()) ++seen.with_messages;
  seen.begun = step + 1;
  if (device == 1 && step == 0 && kernel.lets_wait) let_first_go_ahead();
}

// Target = operand, which lies one cell back.
void move_on(void const* context, std::int64_t, std::int64_t) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const device = call.first->back() / cells_each;
  begin_step(all_seen()[static_cast<std::size_t>(device)], device,
             *static_cast<MoveKernel const*>(call.kernel));
  auto* const to = reinterpret_cast<double*>(call.target);
  auto const* const from = reinterpret_cast<double const*>(call.operands[0].first);
  for (std::int64_t i = 0; i < call.extents->back(); ++i)
    to[i * call.target_strides->back()] = from[i * call.operands[0].strides->back()];
}

/// From u to v, from v to u, and so on.
class Turns final : public OperationSteps {
 public:
  void visit(Operation const& operation, DeviceSpan const&, Visit const& visit) const override {
    for (std::size_t step = 0; step < step_count; ++step)
      visit({step % 2, step, *operation.statements[step % 2]});
  }
  [[nodiscard]] std::uint64_t hash() const override { return 11; }
  [[nodiscard]] std::int64_t most_steps() const override { return step_count; }
  [[nodiscard]] std::string words() const override { return "in turns"; }
};

Statement move_statement(DistArray<double, 1> const& to, DistArray<double, 1> const& from,
                         MoveKernel const& kernel) {
  Statement statement;
  statement.kind = "move";
  statement.type_hash = 12;
  statement.purpose = detail::Purpose::transfer;
  statement.work = {to.layout(), AffineMap::identity(1), Box{{1}, {to.shape()[0]}}};
  statement.target = to.storage();
  AffineMap back{1, {}};
  back.axes.push_back({0, -1, 1});
  statement.operands.push_back({from.storage(), Access::plain(back), -1});
  statement.forms = {move_on, move_on};
  statement.kernel = &kernel;
  statement.kernel_bytes = sizeof kernel;
  return statement;
}

void run_turns(DistArray<double, 1> const& u, DistArray<double, 1> const& v) {
  auto const& job = engine().job();
  bool const lets_wait =
      job.device_count() > 1 && job.is_local(DeviceId(0)) && job.is_local(DeviceId(1));
  std::array<MoveKernel, 2> const kernels{{{0, lets_wait}, {1, lets_wait}}};
  auto const there = move_statement(v, u, kernels[0]), back = move_statement(u, v, kernels[1]);
  Operation operation{{"turns", {}, std::make_shared<Turns const>()}, {&there, &back}};
  engine().run(operation);
  engine().synchronize();
}

// Those of devices of this process. The channels are open.
void watch_senders() {
  auto const& job = engine().job();
  for (std::int64_t d = 0; d < job.device_count(); ++d) {
    auto& seen = all_seen()[static_cast<std::size_t>(d)];
    seen.begun = 0;
    seen.with_messages = 0;
    if (job.is_local(DeviceId(d)) && d + 1 < job.device_count())
      seen.to_next = &engine().network().sender(DeviceId(d), DeviceId(d + 1), {});
  }
}

}  // namespace

TEST_CASE("a step computes while messages travel unless TESSERA_OVERLAP=0 forbids it") {
  if (test::left_out_if(engine().device_kind() != DeviceKind::cpu, "kernels look at the channels"))
    return;
  auto const devices = engine().job().device_count();
  auto u = iota<double>({devices * cells_each}, test::over(devices));
  auto v = iota<double>({devices * cells_each}, test::over(devices));
  all_seen() = std::vector<Seen>(static_cast<std::size_t>(devices));
  for (auto& seen : all_seen()) seen.begun = 1;  // no kernel waits in the run that opens channels
  run_turns(u, v);
  watch_senders();
  run_turns(u, v);

  // 16 steps have moved each cell on by as many; the first cell stays.
  std::vector<double> wanted;
  for (std::int64_t i = 0; i < devices * cells_each; ++i)
    wanted.push_back(static_cast<double>(std::max<std::int64_t>(i - 2 * step_count, 0)));
  CHECK_ALL(test::holds(u, wanted));
  auto const is_local = [](std::int64_t d) { return engine().job().is_local(DeviceId(d)); };
  for (std::int64_t d = 0; d < devices; ++d) {
    if (!is_local(d)) continue;
    auto const& seen = all_seen()[static_cast<std::size_t>(d)];
    CAPTURE(d);
    CHECK(seen.begun == step_count);
    if (!steps_overlap()) CHECK(seen.with_messages == 0);
  }
  if (steps_overlap() && devices > 1 && is_local(0) && is_local(1))
    CHECK(all_seen()[0].with_messages >= 1);
}

TEST_SUITE_END();
