// Programs that go wrong on one process, and right ones that try to be mistaken for them.
//
//     driver <scenario>
//
// tests/scenarios/run.py starts each under mpirun and looks at what the processes say.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>
#include <src/runtime/engine.hpp>
#include <tessera/products.hpp>
#include <unistd.h>

namespace ts = tessera;

namespace {

constexpr std::int64_t cells = 40;
constexpr int steps = 200;

auto const inner = ts::range(1, -1);
auto const left = ts::range(0, -2);
auto const right = ts::from(2);

ts::NamedSharding rows() {
  return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x")};
}

ts::DistArray<double, 1> start() {
  return ts::from_index<double>({cells}, rows(), [](auto i) { return 0.1 * double(i[0] % 7); });
}

bool is_second() {
  return ts::process() == ts::ProcessId{1};
}

void step(ts::DistArray<double, 1>& u) {
  u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
}

void pause_somewhat() {
  thread_local std::mt19937 random(static_cast<unsigned>(getpid()));
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

// A process that says its number may be killed or stopped: all are under way.
void say_number() {
  std::printf("pid %d\n", getpid());
  std::fflush(stdout);
}

// The process to be killed or stopped, and those that wait for it, run for long.
void run_for_long() {
  auto u = start();
  step(u);
  ts::synchronize();
  say_number();
  for (int i = 0; i < 100'000'000; ++i) step(u);
}

// The second process brings a statement and stops: if its devices are GPUs, before these have done
// it.
void stops_with_work() {
  auto u = start();
  step(u);
  ts::synchronize();
  step(u);
  if (is_second()) std::raise(SIGSTOP);
  ts::synchronize();
}

// The second process stops when the others have all that they need of it but its end.
void stops_at_the_end() {
  auto u = start();
  step(u);
  ts::synchronize();
  if (is_second()) std::raise(SIGSTOP);
}

void another_statement() {
  auto u = start();
  for (int i = 0; i < steps; ++i) {
    if (is_second() && i == 50)
      u(inner) = 0.7 * u(inner) + 0.1 * u(left) + 0.2 * u(right) + 0.0;
    else
      step(u);
  }
  ts::synchronize();
}

void another_array() {
  auto u = start();
  auto v = start();
  for (int i = 0; i < steps; ++i) step(is_second() && i == 50 ? v : u);
  ts::synchronize();
}

void another_layout() {
  ts::NamedSharding const whole(rows().mesh(), ts::P(ts::none));
  auto const u = ts::iota<double>({cells}, is_second() ? whole : rows());
  std::printf("%g\n", u.to_host().back());
}

void another_reduction() {
  auto u = start();
  double const value = is_second() ? ts::min(u) : ts::max(u);
  std::printf("%g\n", value);
}

void one_array_more() {
  if (is_second()) (void)ts::zeros<double>({cells}, rows());
  auto u = start();
  for (int i = 0; i < steps; ++i) step(u);
  ts::synchronize();
}

void ends_early() {
  auto u = start();
  for (int i = 0; i < (is_second() ? 50 : steps); ++i) step(u);
}

// Both wait for the other's message for good: neither has put what the other awaits.
void upwind_both_ways() {
  auto u = start();
  auto v = start();
  for (int i = 0; i < steps; ++i) {
    if (is_second() && i == 50)
      v = ts::shift(u, 1, ts::periodic);
    else
      v = ts::shift(u, -1, ts::periodic);
  }
  ts::synchronize();
}

void throws_on_one() {
  auto u = start();
  for (int i = 0; i < steps; ++i) {
    step(u);
    if (is_second() && i == 50) throw std::runtime_error("the program's own trouble");
  }
  ts::synchronize();
}

void functor_throws_on_one() {
  auto const u = ts::from_index<double>({cells}, rows(), [](auto i) {
    if (is_second()) throw std::runtime_error("the functor's own trouble");
    return double(i[0]);
  });
  std::printf("%g\n", double(ts::sum(u)));
}

// The last device has much work before it makes what the device before it reads; as many statements
// as may wait for a device.
void one_device_is_late() {
  constexpr std::int64_t many = 1 << 24;
  auto u = ts::full<double>({many}, 0.5, rows());
  auto const last = ts::from(many - many / ts::device_count());
  u(inner) = u(left) + u(right);  // what makes room for ghost cells waits for all work
  for (int i = 0; i < 60; ++i) u(last) = ts::sin(ts::exp(ts::cos(u(last))));
  u(inner) = u(left) + u(right);
  ts::synchronize();
}

void mistake_on_all() {
  auto u = start();
  try {
    u = u(inner) + 1.0;
  } catch (ts::ShapeError const&) {
    step(u);
  }
  std::printf("sum %a\n", double(ts::sum(u)));
}

void right_with_delays() {
  auto u = start();
  auto v = start();
  for (int i = 0; i < steps; ++i) {
    pause_somewhat();
    step(u);
    if (i % 3 == 0) v = ts::roll(u, 1);
    if (i % 5 == 0) pause_somewhat();
    if (i % 7 == 0) u(ts::range(3, 20)) = v(ts::range(5, 22));
    if (i % 50 == 0) (void)double(ts::sum(v));
  }
  std::printf("bits %016llx\n", static_cast<unsigned long long>(ts::hash(u)));
}

// The user's own messages, blocking, between statements that are still on their way.
void own_messages() {
  auto u = start();
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < steps; ++i) {
    step(u);
    int token = i;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
    if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf("bits %016llx\n", static_cast<unsigned long long>(ts::hash(u)));
}

// Wider and wider stencils while the narrower ones are still queued.
void growing_ghosts() {
  auto u = ts::from_index<double>({400}, rows(), [](auto i) { return 0.1 * double(i[0] % 7); });
  for (int width = 1; width < 6; ++width)
    for (int i = 0; i < 20; ++i)
      u = 0.5 * u + 0.3 * ts::shift(u, width, ts::periodic) + 0.2 * ts::shift(u, -width, ts::edge);
  std::printf("bits %016llx\n", static_cast<unsigned long long>(ts::hash(u)));
}

void budget_on_one() {
  auto u = start();
  step(u);
  ts::CommunicationBudget const budget({.messages = is_second() ? 3 : 4});
  step(u);
}

// Says what each process is told, before the first of them ends the job. No process is told before
// all are here, where they say it.
void told(std::function<void()> const& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  try {
    body();
    ts::engine().finish();
  } catch (ts::Mismatch const& mismatch) {
    std::printf("told %s\n", mismatch.what());
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    throw;
  }
}

// For these nothing travels, so only TESSERA_CHECK=communication finds them.
void another_pointwise() {
  auto u = start();
  told([&] {
    for (int i = 0; i < steps; ++i) {
      if (is_second() && i == 50)
        u(ts::all) = 0.5 + u;
      else
        u(ts::all) = 0.5 * u;
    }
  });
}

void another_shape() {
  auto u = start();
  told([&] {
    for (int i = 0; i < steps; ++i) u(ts::range(0, is_second() && i == 50 ? 6 : 5)) = 0.1;
  });
}

void another_size() {
  told([&] {
    auto u = ts::zeros<double>({is_second() ? cells + 1 : cells}, rows());
    u(ts::all) = u + 0.1;
  });
}

// Only the last statement of the product differs.
void another_target_of_product() {
  auto const mesh = rows().mesh();
  auto const a = ts::zeros<double>({8, 512 * ts::device_count()}, {mesh, ts::P(ts::none, "x")});
  auto const b = ts::zeros<double>({512 * ts::device_count(), 3}, {mesh, ts::P("x", ts::none)});
  auto c = ts::zeros<double>({8, 3}, {mesh, ts::P("x", ts::none)});
  auto d = ts::zeros<double>({8, 3}, {mesh, ts::P("x", ts::none)});
  told([&] { ts::matmul_into(is_second() ? d : c, a, b); });
}

// For these only TESSERA_CHECK=numbers finds the numbers of one process.
void another_number() {
  auto u = start();
  told([&] {
    for (int i = 0; i < steps; ++i) u(ts::all) = (is_second() && i == 50 ? 3.0 : 2.0) * u;
    std::printf("sum %a\n", double(ts::sum(u)));
  });
}

void another_fill() {
  told([&] {
    auto const u = ts::full<double>({cells}, is_second() ? 0.25 : 0.5, rows());
    std::printf("sum %a\n", double(ts::sum(u)));
  });
}

void other_host_cells() {
  std::vector<double> host(cells, 1.0);
  if (is_second()) host[1] = 1.5;
  told([&] {
    auto const u = ts::from_host(host, {cells}, rows());
    std::printf("sum %a\n", double(ts::sum(u)));
  });
}

void another_term() {
  auto u = start();
  told([&] {
    auto const sums = ts::sum(u * (is_second() ? 3.0 : 2.0), ts::axis(0));
    std::printf("sum %a\n", double(sums));
  });
}

void another_number_in_loop() {
  auto u = start();
  double const factor = is_second() ? 0.25 : 0.5;
  told([&] { ts::iterate(steps, [&](ts::Step) { step(u), u = factor * u; }); });
}

// The loop is recorded with the same numbers, and runs again with others.
void another_number_later() {
  auto u = start();
  double factor = 0.5;
  auto loop = ts::record([&](ts::Step) { u(ts::all) = factor * u; });
  loop.run(10);
  if (is_second()) factor = 0.25;
  told([&] { loop.run(10); });
}

// The first step is alike everywhere, and the second is not.
void another_number_in_second_step() {
  auto u = start();
  int i = 0;
  told([&] {
    ts::iterate(10, [&](ts::Step) { u(ts::all) = (is_second() && i++ > 0 ? 0.25 : 0.5) * u; });
  });
}

// Found where all the others do the next thing, or end.
void one_statement_more() {
  auto u = start();
  for (int i = 0; i < (is_second() ? 51 : 50); ++i) u(ts::all) = 0.5 * u;
}

void one_statement_less() {
  auto u = start();
  for (int i = 0; i < (is_second() ? 49 : 50); ++i) u(ts::all) = 0.5 * u;
  u = u + 0.1;
}

// The process to be stopped is asked for cells, for long.
void asks_for_long() {
  auto u = start();
  ts::fence(u);
  for (std::int64_t i = 0; i < cells; ++i) u.accumulate({i}, 1.0);
  say_number();
  for (std::int64_t i = 0; i < 100'000'000; ++i) u.accumulate({i % cells}, 1.0);
  ts::fence(u);
}

void another_fence() {
  auto u = start();
  auto v = start();
  ts::fence(is_second() ? v : u);
  ts::fence(is_second() ? v : u);
}

void one_fence_less() {
  auto u = start();
  ts::fence(u);
  (void)u.read({cells - 1});
  if (is_second()) return;
  ts::fence(u);
}

void index_on_one() {
  auto u = start();
  ts::fence(u);
  (void)u.read({is_second() ? cells : 0});
  ts::fence(u);
}

// What all processes add up, while they add: the sum is that of one process, times their number.
void all_add() {
  auto u = start();
  u(ts::all) = 0.0;
  for (int round = 0; round < 3; ++round) {
    ts::fence(u);
    for (std::int64_t i = 0; i < 300; ++i) {
      u.accumulate({(i * 7) % cells}, 1.0);
      if (i % 100 == 0) pause_somewhat();
    }
    ts::fence(u);
    u(ts::all) = u / double(ts::process_count());
  }
  std::printf("sum %a\n", double(ts::sum(u)));
}

// How each device of this process reaches each other one.
void routes() {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::string lines = std::string("on ") + host + '\n';
  for (auto const from : ts::addressable_devices())
    for (auto const to : ts::devices())
      if (from.id != to.id)
        lines +=
            ts::detail::text("route ", from.id, ' ', to.id, ' ',
                             ts::to_string(ts::engine().network().route(from.id, to.id)), '\n');
  std::fputs(lines.c_str(), stdout);
  right_with_delays();
}

void say_crossing(ts::Counters::Routes const& sent, std::int64_t bytes, std::int64_t wrong) {
  std::fputs(ts::detail::text("between hosts ", sent.ucx + sent.mpi, " of ", bytes, " bytes, ",
                              wrong, " wrong cells\n")
                 .c_str(),
             stdout);
}

// Every device gets a copy of all cells. Each process says how many bytes it sent to other hosts.
void copies_for_all() {
  constexpr std::int64_t count = 50000;
  auto const value = [](std::int64_t i) { return 0.1 * static_cast<double>(i % 9973); };
  auto const u =
      ts::from_index<double>({count}, rows(), [&](auto const& i) { return value(i[0]); });
  auto const before = ts::counters();
  auto const v = ts::reshard(u, {rows().mesh(), ts::P(ts::none)});
  auto const sent = (ts::counters() - before).routes;
  std::atomic<std::int64_t> wrong{0};
  ts::for_each_shard(v, [&](auto const& shard) {
    for (std::int64_t i = 0; i < shard.extent(0); ++i)
      if (shard(i) != value(i)) ++wrong;
  });
  say_crossing(sent, 8 * count, wrong);
}

// A layer whose weight is cut along its terms. Each process says how many bytes it sent to other
// hosts.
void row_layer() {
  auto const mesh = rows().mesh();
  auto const x = ts::full<float, 2>({512, 5632}, 0.5F, {mesh, ts::P(ts::none, "x")});
  auto const weight = ts::full<float, 2>({5632, 2048}, 0.25F, {mesh, ts::P("x", ts::none)});
  auto y = ts::zeros<float, 2>({512, 2048}, {mesh, ts::P(ts::none, ts::none)});
  auto const before = ts::counters();
  y = ts::matmul(x, weight);
  auto const sent = (ts::counters() - before).routes;
  auto const wrong = static_cast<std::int64_t>(ts::sum(ts::cast<std::int64_t>(y != 704.0F)));
  say_crossing(sent, std::int64_t{4} * 512 * 2048, wrong);
}

std::map<std::string, std::function<void()>> const scenarios{
    {"routes", routes},
    {"copies_for_all", copies_for_all},
    {"row_layer", row_layer},
    {"asks_for_long", asks_for_long},
    {"another_fence", another_fence},
    {"one_fence_less", one_fence_less},
    {"index_on_one", index_on_one},
    {"all_add", all_add},
    {"killed", run_for_long},
    {"stopped", run_for_long},
    {"stops_with_work", stops_with_work},
    {"stops_at_the_end", stops_at_the_end},
    {"another_statement", another_statement},
    {"another_array", another_array},
    {"another_layout", another_layout},
    {"another_reduction", another_reduction},
    {"one_array_more", one_array_more},
    {"ends_early", ends_early},
    {"upwind_both_ways", upwind_both_ways},
    {"throws_on_one", throws_on_one},
    {"functor_throws_on_one", functor_throws_on_one},
    {"one_device_is_late", one_device_is_late},
    {"mistake_on_all", mistake_on_all},
    {"right_with_delays", right_with_delays},
    {"own_messages", own_messages},
    {"growing_ghosts", growing_ghosts},
    {"budget_on_one", budget_on_one},
    {"another_pointwise", another_pointwise},
    {"another_shape", another_shape},
    {"another_size", another_size},
    {"another_target_of_product", another_target_of_product},
    {"another_number", another_number},
    {"another_fill", another_fill},
    {"other_host_cells", other_host_cells},
    {"another_term", another_term},
    {"another_number_in_loop", another_number_in_loop},
    {"another_number_later", another_number_later},
    {"another_number_in_second_step", another_number_in_second_step},
    {"one_statement_more", one_statement_more},
    {"one_statement_less", one_statement_less},
};

// An exception unwinds the Runtime while its workers have much to do.
int unwinds(int argc, char** argv) {
  try {
    ts::Runtime runtime(argc, argv);
    auto u = start();
    for (int i = 0; i < 60; ++i) step(u);
    (void)u(cells);
  } catch (ts::IndexError const&) {
    std::printf("done\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "unwinds") return unwinds(argc, argv);
  ts::Runtime runtime(argc, argv);
  auto const found = scenarios.find(argc > 1 ? argv[1] : "");
  if (found == scenarios.end()) return 2;
  found->second();
  std::printf("done\n");
}
