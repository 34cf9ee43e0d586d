/// @file
/// Processes that pass numbers around a ring until something happens to one of them. run.py starts
/// it under mpirun and says what must come of it.
///
///     driver <scenario> [rounds [seconds]]
///
/// Exits with 0 after all rounds. What is thrown is printed as "<class>: <text>", and ends the job.

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"

#include "support/transport_devices.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::int64_t event_round = 50;
constexpr std::int64_t under_way_round = 10;  // who has come here has heard of all others

/// So much time of the processor: on a busy machine those that wait see less of it, too.
void compute(std::chrono::seconds time) {
  auto const end = std::clock() + static_cast<std::clock_t>(time.count()) * CLOCKS_PER_SEC;
  while (std::clock() < end) continue;
}

/// What process 1 does to itself.
void suffer(std::string const& scenario, std::chrono::seconds time) {
  if (scenario == "none" || scenario == "slow") return;
  std::printf("fault\n");
  std::fflush(stdout);
  if (scenario == "exits") std::_Exit(0);
  if (scenario == "computes") compute(time);
  if (scenario == "killed") std::raise(SIGKILL);
  if (scenario == "stopped") std::raise(SIGSTOP);
  if (scenario == "late") std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  if (scenario == "throws") throw Error("process 1 has had enough");
}

/// A process that says its number may be held, stopped or cut off: all are under way.
void say_number() {
  static std::once_flag said;
  std::call_once(said, [] {
    std::printf("pid %ld\n", static_cast<long>(::getpid()));
    std::fflush(stdout);
  });
}

void pass_around(Device const& device, std::string const& scenario, std::int64_t rounds,
                 std::chrono::seconds time) {
  bool const is_victim = device.job.self() == ProcessId(1);
  for (std::int64_t round = 0; round < rounds; ++round) {
    if (round == under_way_round) say_number();
    if (is_victim && round == event_round) suffer(scenario, time);
    auto const tag = statement(static_cast<std::uint64_t>(round + 1), "driver.cpp", __LINE__);
    auto const slot = device.to(device.right()).slot(device.waiter, tag);
    std::memcpy(slot.data(), &round, sizeof round);
    device.to(device.right()).put(tag, sizeof round);
    auto const bytes = device.from(device.left()).take(device.waiter, tag);
    if (std::memcmp(bytes.data(), &round, sizeof round) != 0) throw Error("another round's number");
    device.from(device.left()).release();
    if (scenario == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (is_victim && scenario == "killed-at-the-end") std::raise(SIGKILL);
}

/// Process 0 sends what device 2 of process 1 never reads, and leaves device 1 without work, while
/// device 2 waits for device 1: no wait can end. Over MPI two of the four messages land all the
/// same; the fourth has its arrival confirmed, which never comes.
void send_unread(Network& network, Job const& job) {
  auto const tag = statement(1, "driver.cpp", __LINE__);
  network.set_idle_test([](DeviceId) { return true; });
  open_all(network, job);
  auto& waiter = network.caller_wait_policy();
  if (job.self() == ProcessId(1)) {
    (void)network.receiver(DeviceId(1), DeviceId(2)).take(waiter, tag);
    return;
  }
  auto& sender = network.sender(DeviceId(0), DeviceId(2), tag);
  for (int message = 0; message < 4; ++message) {
    (void)sender.slot(waiter, tag);
    sender.put(tag, 20'000);
  }
  network.drain(tag);
}

/// Prints what was thrown as its class and text.
void print(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (PeerFailed const& failed) {
    log_error(text("PeerFailed: ", failed.what()));
  } catch (Mismatch const& mismatch) {
    log_error(text("Mismatch: ", mismatch.what()));
  } catch (std::exception const& other) {
    log_error(text("Error: ", other.what()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  // mpirun asks the others to end as soon as one has died; they are to see it by themselves.
  std::signal(SIGTERM, SIG_IGN);
  auto const bootstrap = make_mpi_bootstrap(argc, argv);
  set_log_process(bootstrap->self());
  std::string const scenario = argc > 1 ? argv[1] : "none";
  std::int64_t const rounds = argc > 2 ? std::atol(argv[2]) : 200;
  std::chrono::seconds const time(argc > 3 ? std::atol(argv[3]) : 0);
  try {
    bool const is_unread = scenario == "unread";
    auto const devices = is_unread && bootstrap->self() == ProcessId(0) ? 2 : devices_per_process();
    Job const job(*bootstrap, devices);
    Network network(*bootstrap, job, NetworkOptions::from_environment());
    if (is_unread) {
      send_unread(network, job);
      throw Error("what nobody reads has been sent");
    }
    run_devices(network, job,
                [&](Device const& device) { pass_around(device, scenario, rounds, time); });
  } catch (...) {
    print(std::current_exception());
    // The announcement must leave, and the others shall speak too before the first one ends the
    // job; where nobody is dead or stopped they have nothing but this to go by, so they get longer.
    std::chrono::milliseconds const patience(scenario == "throws" ? 5000 : 500);
    auto const end = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < end) {
      bootstrap->poll_control([](auto, auto) {});
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    bootstrap->abort_job();
  }
  std::printf("done\n");
  bootstrap->finalize();
}
