// Says what Tessera finds on this machine and in this job, and why. See --help.

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/cuda/driver.hpp"
#include "src/device/peers.hpp"
#include "src/device/row_launch.hpp"
#include "src/job/launch.hpp"
#include "src/plan/costs.hpp"
#include "src/runtime/local_devices.hpp"
#include "src/transport/channel/channel.hpp"
#include "src/transport/channel/transports.hpp"

#include "options.hpp"
#include "processes.hpp"
#include "report.hpp"
#include "routes.hpp"

namespace {

namespace ts = tessera;
using info::Entry;
using info::Unit;

std::string or_none(std::string const& words) {
  return words.empty() ? "none" : words;
}

void describe_build(Entry& report, bool has_mpi) {
  auto& build = report.section("build");
  auto const mpi = has_mpi ? info::mpi_description() : "built; not started";
  build.add("mpi", ts::is_built(ts::Route::mpi) ? mpi : "not built");
  for (auto const route : ts::optional_routes())
    if (route != ts::Route::mpi)
      build.add(std::string(to_string(route)), ts::is_built(route) ? "built" : "not built");
  build.add("kokkos", std::string(ts::launch_description()));
  std::string const toolkit = TESSERA_INFO_CUDA;
  build.add("cuda", ts::has_cuda_driver() ? "built; toolkit " + toolkit : "not built");
  auto* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  build.add("cuda driver", driver == nullptr ? "not found" : "found");
  build.add("arch", or_none(TESSERA_INFO_ARCH));
  build.add("poisoned memory", ts::poison_slots);
  build.add("sanitizer", or_none(TESSERA_INFO_SANITIZE));
  build.add("compiler", TESSERA_INFO_COMPILER);
  build.add("build type", or_none(TESSERA_INFO_BUILD_TYPE));
}

// Those that process 0 sees.
void describe_gpus(Entry& report) {
  if (!ts::has_cuda_driver()) return;
  auto const driver = ts::make_cuda_driver();
  if (driver->count() == 0) return;
  auto& list = report.list("gpus");
  for (int gpu = 0; gpu < driver->count(); ++gpu) {
    auto const facts = driver->facts(gpu);
    auto& line = list.item();
    line.add("gpu", std::int64_t{gpu});
    line.add("name", facts.name);
    line.add("bus", facts.bus);
    line.add("multiprocessors", std::int64_t{facts.multiprocessors});
    line.add("memory", facts.memory_bytes, Unit::bytes);
  }
  auto const groups = driver->make_queue(0)->peers().communicator_traits();
  report.add("nccl", groups.exists ? "found" : groups.reason);
}

void describe_launch(Entry& report) {
  auto const variable = [](std::string_view name) { return ts::environment(name); };
  auto const facts = ts::launch_facts(variable);
  auto& launch = report.section("launch");
  launch.add("launcher", std::string(to_string(facts.launcher)));
  launch.add("starts mpi", facts.starts_mpi());
  launch.add_if("process", facts.process);
  launch.add_if("processes", facts.process_count);
  launch.add_if("local process", facts.local_process);
  launch.add_if("local processes", facts.local_count);
  if (!facts.job.empty()) launch.add("job", facts.job);
  if (!facts.host_list.empty()) launch.add("host list", facts.host_list);
  auto const warning = ts::launch_warning(variable);
  if (!warning.empty()) launch.add("warning", warning);
}

void describe_transports(Entry& report, ts::Bootstrap& bootstrap) {
  auto& transports = report.section("transports");
  for (auto const& facts : ts::transport_facts(bootstrap)) {
    auto& transport = transports.section(std::string(to_string(facts.route)));
    transport.add("there", facts.is_there);
    transport.add("why", facts.why);
    if (facts.traits == nullptr) continue;
    transport.add("within process", facts.traits->within_process);
    transport.add("within host", facts.traits->within_host);
    transport.add("crosses hosts", facts.traits->crosses_hosts);
    transport.add("shares memory", facts.traits->shares_memory);
    transport.add("slot", facts.traits->slot_bytes, Unit::bytes);
    transport.add("messages beyond slots", facts.traits->slots_beyond);
  }
}

void describe_routes(Entry& report, info::Routes const& routes) {
  auto& kinds = report.section("routes");
  for (auto const& kind : routes.kinds) {
    auto& entry = kinds.section(kind.name);
    entry.add("route", kind.route);
    entry.add("why", kind.why);
    if (kind.measured.empty()) continue;
    auto& measured = entry.list("measured");
    for (auto const& route : kind.measured) {
      auto& line = measured.item();
      line.add("by", route.name);
      line.add("round trip of 8 B", route.timing.round_trip_us, Unit::microseconds);
      line.add("1 MiB one way", route.timing.gigabytes_per_second, Unit::gigabytes_per_second);
    }
  }
}

std::string device_ids(info::ProcessFacts const& process) {
  auto const last = process.first_device + process.device_count - 1;
  if (process.device_count == 1) return std::to_string(last);
  return ts::text(process.first_device, '-', last);
}

// A process is a line, and its devices are in it: their ids follow the ranks.
void describe_processes(Entry& report, std::vector<info::ProcessFacts> const& processes,
                        ts::DeviceKind kind) {
  auto& list = report.list("processes and devices");
  for (auto const& process : processes) {
    auto& line = list.item();
    line.add("process", process.process);
    line.add("pid", process.pid);
    line.add("host", process.host_name.text());
    line.add("devices", device_ids(process));
    line.add("kind", std::string(to_string(kind)));
    line.add("affinity mask", process.mask.text());
    line.add("mask", process.mask_cores, Unit::cores);
    if (process.quota_cores > 0)
      line.add("quota", process.quota_cores, Unit::cores);
    else
      line.add("quota", std::string("none"));
    line.add("may use", process.cores, Unit::cores);
  }
}

void describe_hosts(Entry& report, std::vector<info::ProcessFacts> const& processes) {
  auto& list = report.list("hosts");
  for (auto const& first : processes) {
    if (first.host != first.process) continue;
    std::int64_t process_count = 0;
    std::int64_t device_count = 0;
    std::int64_t threads = 0;
    for (auto const& process : processes) {
      if (process.host != first.host) continue;
      ++process_count;
      device_count += process.device_count;
      // The caller's thread is a device's only where it is the only one.
      threads += process.device_count == 1 ? 1 : process.device_count + 1;
    }
    auto& line = list.item();
    line.add("host", first.host_name.text());
    line.add("processes", process_count);
    line.add("devices", device_count);
    line.add("threads that wait or compute", threads);
    line.add("memory", first.memory_bytes, Unit::bytes);
  }
}

// By which plans are compared.
void describe_costs(Entry& report) {
  auto const costs = ts::Costs::from_environment();
  auto& section = report.section("costs in plans, a second");
  auto const add = [&](char const* name, double value) {
    section.add(name, static_cast<std::int64_t>(value));
  };
  add("multiplications of a device", costs.multiplications);
  add("cells that a device packs to multiply", costs.read_cells);
  add("bytes received by a device", costs.received_bytes);
  add("bytes of a host from others", costs.network_bytes);
  add("messages within a host", costs.messages);
}

struct Findings {
  ts::Bootstrap& bootstrap;
  ts::Job const& job;
  info::Routes routes;
  std::vector<info::ProcessFacts> processes;
  ts::DeviceKind kind;
};

Entry describe(Findings const& found) {
  auto const& [bootstrap, job, routes, processes, kind] = found;
  Entry report("");
  report.add("tessera", TESSERA_INFO_VERSION);
  describe_build(report, bootstrap.process_count() > 1 || ts::launched_by_mpi());
  describe_gpus(report);
  describe_launch(report);
  auto& totals = report.section("job");
  totals.add("processes", bootstrap.process_count());
  totals.add("devices", job.device_count());
  totals.add("devices per host in plans", job.hosts().per_host);
  totals.add("oversubscribed", routes.shares_cores);
  totals.add("waits", routes.shares_cores ? "yield their core at once: not every thread has one"
                                          : "spin a little: every thread has a core of its own");
  describe_hosts(report, processes);
  describe_processes(report, processes, kind);
  describe_transports(report, bootstrap);
  describe_costs(report);
  describe_routes(report, routes);
  return report;
}

int run(int& argc, char**& argv, info::Options const& options) {
  auto const bootstrap =
      ts::launched_by_mpi() ? ts::make_mpi_bootstrap(argc, argv) : ts::make_single_bootstrap();
  try {
    ts::KokkosScope const kokkos;
    auto const devices = ts::devices_of_this_process({}, *bootstrap);
    ts::Job const job(*bootstrap, devices.count);
    Findings const found{*bootstrap, job, info::find_routes(*bootstrap, job, options.measures),
                         info::gather_processes(*bootstrap, job), devices.kind};
    if (bootstrap->self() == ts::ProcessId(0)) {
      auto const report = describe(found);
      if (options.as_json)
        report.print_json(std::cout);
      else
        report.print_text(std::cout);
      std::cout << (options.as_json ? "\n" : "") << std::flush;
    }
  } catch (std::exception const& error) {
    std::cerr << "tessera-info: " << error.what() << '\n';
    // The others may wait for this process.
    if (bootstrap->process_count() > 1) bootstrap->abort_job();
    return 1;
  }
  bootstrap->finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  auto const options = info::parse({argv + 1, argv + argc});
  // Nothing is started yet: what the launcher says is what tells who speaks.
  bool const speaks = ts::launch_facts().process.value_or(0) == 0;
  if (!options.error.empty()) {
    if (speaks) std::cerr << "tessera-info: " << options.error << '\n';
    return 2;
  }
  if (options.wants_help || options.wants_version) {
    if (speaks)
      std::cout << (options.wants_help ? info::help_text : TESSERA_INFO_VERSION "\n") << std::flush;
    return 0;
  }
  try {
    return run(argc, argv, options);
  } catch (std::exception const& error) {
    std::cerr << "tessera-info: " << error.what() << '\n';
    return 1;
  }
}
