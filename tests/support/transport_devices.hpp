#pragma once
/// @file
/// Runs one test body as every device of a job, whichever way the devices are spread.

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/transport/test_hooks.hpp"

#include "support/transport_job.hpp"
#include "support/transport_thread_job.hpp"

namespace tessera::test {

/// A statement with a place in an imagined file.
inline StatementTag statement(std::uint64_t number, char const* file = "program.cpp",
                              std::uint32_t line = 1, std::uint64_t hash = 0) {
  return {number, hash == 0 ? number : hash, SourceLocation(file, line)};
}

/// Options of a network, and what only tests may change.
struct TestOptions : NetworkOptions {
  TestOptions() = default;
  TestOptions(NetworkOptions const& options) : NetworkOptions(options) {}

  TransportTestHooks hooks;
};

/// What the body of one device has.
struct Device {
  DeviceId self;
  std::int64_t count;  ///< devices of the job
  Job const& job;
  Network& network;
  Waiter& waiter;

  /// Both must have been opened before, which `run_devices` does.
  [[nodiscard]] Sender& to(DeviceId peer) const { return network.sender(self, peer, {}); }
  [[nodiscard]] Receiver& from(DeviceId peer) const { return network.receiver(peer, self); }
  [[nodiscard]] DeviceId right() const { return DeviceId((self.value() + 1) % count); }
  [[nodiscard]] DeviceId left() const { return DeviceId((self.value() + count - 1) % count); }
};

/// Opens every channel between the devices of the job, receivers first.
inline void open_all(Network& network, Job const& job) {
  auto const last_local = job.first_local().value() + job.local_count();
  for (auto local = job.first_local().value(); local < last_local; ++local)
    for (std::int64_t peer = 0; peer < job.device_count(); ++peer)
      (void)network.receiver(DeviceId(peer), DeviceId(local));
  for (auto local = job.first_local().value(); local < last_local; ++local)
    for (std::int64_t peer = 0; peer < job.device_count(); ++peer)
      (void)network.sender(DeviceId(local), DeviceId(peer), statement(1));
}

/// Calls `body` on the threads of this process's devices while the caller's thread serves.
template <class Body>
void run_local_devices(Network& network, Job const& job, Body const& body) {
  auto const count = static_cast<std::size_t>(job.local_count());
  std::vector<std::atomic<bool>> done(count);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      DeviceId const self(job.first_local().value() + static_cast<std::int64_t>(i));
      try {
        body(Device{self, job.device_count(), job, network, network.worker_wait_policy(self)});
      } catch (...) {
        network.failure().set(std::current_exception());
      }
      done[i].store(true);
    });
  }
  // Not left before all are done, even if one has failed: they use what belongs to the caller.
  for (std::size_t i = 0; i < count; ++i) {
    try {
      network.caller_wait_policy().until(
          [&] { return done[i].load(); },
          {.kind = Awaited::Kind::worker,
           .peer = DeviceId(job.first_local().value() + static_cast<std::int64_t>(i))});
    } catch (...) {
      network.failure().set(std::current_exception());
    }
  }
}

/// Calls `body` as the devices of this process: a single one on the caller's thread.
template <class Body>
void run_devices(Network& network, Job const& job, Body const& body) {
  try {
    open_all(network, job);
    if (job.local_count() == 1) {
      body(Device{job.first_local(), job.device_count(), job, network,
                  network.caller_wait_policy()});
    } else {
      run_local_devices(network, job, body);
    }
    network.failure().throw_if_set();
    network.caller_wait_policy().until([&] { return !network.has_pending(); },
                                       {.kind = Awaited::Kind::other});
    network.finish();
  } catch (...) {
    network.failure().set(std::current_exception());
    network.announce_failure(std::current_exception());
    throw;
  }
}

/// One process with `count` devices.
template <class Body>
void on_devices(std::int64_t count, Body const& body, TestOptions const& options = {}) {
  auto const bootstrap = make_single_bootstrap();
  Job const job(*bootstrap, count);
  Network network(*bootstrap, job, options, options.hooks);
  run_devices(network, job, body);
}

/// The job that the tests run in. Ends with a barrier, so that tests do not overlap.
template <class Body>
void on_job(std::int64_t local_count, Body const& body, TestOptions const& options) {
  auto& bootstrap = job_bootstrap();
  Job const job(bootstrap, local_count);
  Network network(bootstrap, job, options, options.hooks);
  run_devices(network, job, body);
  bootstrap.barrier();
}

/// Processes that are threads, with as many devices each as `counts` says. What each of them threw.
template <class Body>
std::vector<std::exception_ptr> try_on_processes(std::vector<std::int64_t> const& counts,
                                                 Body const& body, TestOptions const& options) {
  ThreadJob threads_job(static_cast<std::int64_t>(counts.size()));
  std::vector<std::exception_ptr> failures(counts.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    threads.emplace_back([&, i] {
      auto const bootstrap = threads_job.join(static_cast<std::int64_t>(i));
      Job const job(*bootstrap, counts[i]);
      Network network(*bootstrap, job, options, options.hooks);
      try {
        run_devices(network, job, body);
      } catch (...) {
        failures[i] = std::current_exception();
      }
      bootstrap->barrier();  // nobody's network ends while another's thread may look at its page
    });
  }
  threads.clear();
  return failures;
}

/// The same, and the first failure is thrown again.
template <class Body>
void on_processes(std::vector<std::int64_t> const& counts, Body const& body,
                  TestOptions const& options = {}) {
  for (auto const& failure : try_on_processes(counts, body, options))
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tessera::test
