#include "processes.hpp"

#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/cores.hpp"

namespace info {
namespace {

namespace ts = tessera;

static_assert(sizeof(ProcessFacts) <= ts::Bootstrap::max_control_bytes);

ProcessFacts own_facts(ts::Bootstrap const& bootstrap, ts::Job const& job) {
  auto const cores = ts::core_facts();
  ProcessFacts facts;
  facts.process = bootstrap.self().value();
  facts.pid = ::getpid();
  facts.host = bootstrap.host();
  facts.first_device = job.first_local().value();
  facts.device_count = job.local_count();
  facts.memory_bytes =
      std::int64_t{::sysconf(_SC_PHYS_PAGES)} * std::int64_t{::sysconf(_SC_PAGESIZE)};
  facts.cores = ts::available_cores();
  facts.mask_cores = std::ssize(cores.mask);
  facts.quota_cores = cores.quota.value_or(0);
  facts.host_name = FixedText<128>(bootstrap.host_name());
  facts.mask = FixedText<256>(ranges_text(cores.mask));
  return facts;
}

}  // namespace

std::string ranges_text(std::vector<std::int64_t> const& numbers) {
  std::string result;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    result += ts::text(i == 0 ? "" : ",", numbers[i]);
    if (last > i) result += ts::text('-', numbers[last]);
    i = last + 1;
  }
  return result;
}

std::vector<ProcessFacts> gather_processes(ts::Bootstrap& bootstrap, ts::Job const& job) {
  auto const mine = own_facts(bootstrap, job);
  std::vector<ProcessFacts> all;
  if (mine.process != 0) {
    bootstrap.send_control(ts::ProcessId(0), std::as_bytes(std::span(&mine, 1)));
  } else {
    all.resize(static_cast<std::size_t>(bootstrap.process_count()));
    all[0] = mine;
    std::int64_t missing = bootstrap.process_count() - 1;
    auto const latest = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (missing > 0) {
      bootstrap.poll_control([&](ts::ProcessId from, std::span<std::byte const> bytes) {
        ProcessFacts facts;
        if (bytes.size() != sizeof facts) return;
        std::memcpy(&facts, bytes.data(), sizeof facts);
        if (facts.mark != mine.mark) return;
        all[static_cast<std::size_t>(from.value())] = facts;
        --missing;
      });
      if (std::chrono::steady_clock::now() > latest)
        throw ts::TransportError(ts::text(missing, " processes report nothing"));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Completes what was sent.
  bootstrap.begin_barrier();
  while (!bootstrap.barrier_done())
    if (mine.process != 0) bootstrap.poll_control([](ts::ProcessId, std::span<std::byte const>) {});
  return all;
}

}  // namespace info
