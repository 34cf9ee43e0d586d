#include "routes.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "src/base/environment.hpp"
#include "src/network/network.hpp"
#include "src/transport/channel/transports.hpp"
#include "src/transport/test_hooks.hpp"

namespace info {
namespace {

namespace ts = tessera;

ts::StatementTag const tag{1, 1, {}};

/// The process that process 0 is paired with, and whether this one takes part.
struct Pairing {
  ts::ProcessId peer;
  bool leads = false;
  bool takes_part = false;

  [[nodiscard]] ts::ProcessId other() const { return leads ? peer : ts::ProcessId(0); }
};

Pairing pairing_with(ts::ProcessId peer, ts::Job const& job) {
  auto const self = job.self();
  return {peer, self == ts::ProcessId(0), self == ts::ProcessId(0) || self == peer};
}

/// A message is 8 bytes, or as much of the stream as fits into a slot.
class ChannelWire final : public Wire {
 public:
  ChannelWire(ts::Network& network, ts::Job const& job, Pairing const& pairing)
      : network_(network), leads_(pairing.leads) {
    auto const own = job.first_local();
    auto const peer = job.first_device_of(pairing.other());
    receiver_ = &network.receiver(peer, own);
    sender_ = &network.sender(own, peer, tag);
  }

  std::int64_t round_trip(std::int64_t value) override {
    if (leads_) send(value);
    auto const heard = receive();
    if (!leads_) send(heard);
    return heard;
  }

  void stream() override {
    for (std::int64_t sent = 0; sent < stream_bytes; sent += sender_->slot_bytes()) {
      if (leads_)
        pack(std::min(sender_->slot_bytes(), stream_bytes - sent));
      else
        (void)take();
    }
    if (leads_)
      (void)receive();
    else
      send(0);
  }

  /// What was put has left.
  void end() { network_.drain(tag); }

 private:
  void send(std::int64_t value) {
    std::memcpy(sender_->slot(network_.caller_wait_policy(), tag).data(), &value, sizeof value);
    sender_->put(tag, sizeof value);
  }
  void pack(std::int64_t size) {
    auto const slot = sender_->slot(network_.caller_wait_policy(), tag);
    std::memcpy(slot.data(), source_.data(), static_cast<std::size_t>(size));
    sender_->put(tag, size);
  }
  std::int64_t take() {
    auto const bytes = receiver_->take(network_.caller_wait_policy(), tag);
    std::int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    // Read as a statement would: into memory of this process.
    std::memcpy(source_.data(), bytes.data(), bytes.size());
    receiver_->release();
    return value;
  }
  std::int64_t receive() { return take(); }

  ts::Network& network_;
  bool leads_;
  ts::Sender* sender_ = nullptr;
  ts::Receiver* receiver_ = nullptr;
  std::vector<std::byte> source_ = std::vector<std::byte>(stream_bytes);
};

/// Waits for all without taking a core from those that are measured.
void wait_asleep(ts::Bootstrap& bootstrap) {
  bootstrap.begin_barrier();
  while (!bootstrap.barrier_done()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// The lowest process of this host that is not process 0, if process 0 is on it; else none, -1.
std::int64_t partner_on_host(ts::Bootstrap& bootstrap) {
  auto const processes = bootstrap.host_processes();
  auto const mine =
      bootstrap.host() == 0 && processes.size() > 1 ? processes[1].value() : std::int64_t{-1};
  return bootstrap.max_of(mine);
}

/// The lowest process on another host than process 0.
std::int64_t partner_on_other_host(ts::Bootstrap& bootstrap) {
  auto const host = bootstrap.host();
  constexpr std::int64_t none = -(std::int64_t{1} << 62);
  auto const nearest = bootstrap.max_of(host == 0 ? none : -host);
  return nearest == none ? -1 : -nearest;
}

void open_and_explain(ts::Network& network, ts::Job const& job, Pairing const& pairing,
                      PairKind& kind) {
  if (!pairing.takes_part) return;
  ChannelWire wire(network, job, pairing);
  (void)wire.round_trip(0);
  wire.end();
  auto const from = job.first_local();
  auto const to = job.first_device_of(pairing.other());
  kind.route = to_string(network.route(from, to));
  kind.why = network.route_reason(from, to);
}

Timing time_route(ts::Bootstrap& bootstrap, ts::Job const& job, Pairing const& pairing,
                  ts::Route route) {
  ts::TransportTestHooks hooks;
  hooks.forced_pair = [route](ts::DeviceId, ts::DeviceId) { return route; };
  ts::Network network(bootstrap, job, {}, hooks);
  Timing timing;
  if (pairing.takes_part) {
    ChannelWire wire(network, job, pairing);
    timing = measure(wire, pairing.leads);
    wire.end();
  }
  wait_asleep(bootstrap);
  network.finish();
  return timing;
}

bool can_join(ts::TransportTraits const& traits, bool same_host) {
  return same_host ? traits.within_host : traits.crosses_hosts;
}

/// Every route that both processes have, and plain MPI.
void measure_kind(ts::Bootstrap& bootstrap, ts::Job const& job, Pairing const& pairing,
                  PairKind& kind) {
  bool const same_host = kind.name == "same host";
  bool const is_forced = ts::environment("TESSERA_ROUTE").has_value();
  for (auto const& facts : ts::transport_facts(bootstrap)) {
    bool lacks = !facts.is_there || !can_join(*facts.traits, same_host);
    // Segments can be made, but another container's cannot be mapped.
    bool const was_refused = pairing.leads && kind.route == "mpi" && !is_forced;
    if (facts.route == ts::Route::shm && was_refused) lacks = true;
    if (bootstrap.max_of(lacks && pairing.takes_part ? 1 : 0) == 1) continue;
    auto const timing = time_route(bootstrap, job, pairing, facts.route);
    kind.measured.push_back({facts.traits->name, timing});
  }
  if (pairing.takes_part)
    if (auto const wire = make_mpi_wire(pairing.other(), pairing.leads))
      kind.measured.push_back({"plain MPI", measure(*wire, pairing.leads)});
  wait_asleep(bootstrap);
}

}  // namespace

Routes find_routes(ts::Bootstrap& bootstrap, ts::Job const& job, bool measures) {
  Routes routes;
  std::string const absent = "none";
  routes.kinds = {{"same process", absent, "each process drives one device", {}},
                  {"same host", absent, "process 0 has its host for itself", {}},
                  {"other host", absent, "the job has one host", {}}};
  std::vector<std::pair<PairKind*, std::int64_t>> const pairs{
      {&routes.kinds[1], partner_on_host(bootstrap)},
      {&routes.kinds[2], partner_on_other_host(bootstrap)}};
  {
    ts::Network network(bootstrap, job, ts::NetworkOptions::from_environment());
    auto const first = job.first_local();
    if (job.local_count() > 1) {
      ts::DeviceId const second(first.value() + 1);
      routes.kinds[0].route = to_string(network.route(first, second));
      routes.kinds[0].why = network.route_reason(first, second);
    }
    for (auto const& [kind, peer] : pairs)
      if (peer >= 0) open_and_explain(network, job, pairing_with(ts::ProcessId(peer), job), *kind);
    routes.shares_cores = network.shares_cores();
    network.finish();
  }
  bootstrap.barrier();
  for (auto const& [kind, peer] : pairs)
    if (measures && peer >= 0)
      measure_kind(bootstrap, job, pairing_with(ts::ProcessId(peer), job), *kind);
  return routes;
}

}  // namespace info
