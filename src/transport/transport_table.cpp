// To add a transport: a folder with its backend.hpp, transport.cpp and not_built.cpp, its route in
// route.hpp, its option and folder in CMake, and here an entry and its place among the preferences.
#include "src/transport/transport_table.hpp"

#include <algorithm>
#include <array>

#include "tessera/base/error.hpp"

#include "src/job/ipc/shared_segment.hpp"
#include "src/transport/local/backend.hpp"
#include "src/transport/mpi/backend.hpp"
#include "src/transport/shm/backend.hpp"
#include "src/transport/ucx/backend.hpp"

namespace tessera {
namespace {

std::string nothing_missing(Bootstrap& /*bootstrap*/) {
  return {};
}

/// Whether another process can map a segment shows only with that one.
std::string missing_for_shm(Bootstrap& /*bootstrap*/) {
  try {
    (void)Segment::make(64);
    return {};
  } catch (TransportError const& error) {
    return error.what();
  }
}

std::string missing_for_mpi(Bootstrap& bootstrap) {
  bool const has_mpi = launched_by_mpi() || bootstrap.process_count() > 1;
  return has_mpi ? "" : "no launcher of MPI started the program";
}

constexpr TransportEntry local{
    .route = Route::local,
    .option = nullptr,
    .traits = local_transport_traits,
    .make = [](TransportTools const& /*tools*/) { return make_local_transport(); },
    .what_is_missing = nothing_missing,
    .how_known = "devices of one process share its memory"};

constexpr TransportEntry shm{
    .route = Route::shm,
    .option = nullptr,
    .traits = shm_transport_traits,
    .make = [](TransportTools const& tools) { return make_shm_transport(tools.descriptor_server); },
    .what_is_missing = missing_for_shm,
    .how_known = "a segment can be made"};

constexpr TransportEntry ucx{
    .route = Route::ucx,
    .option = "TESSERA_WITH_UCX",
    .traits = ucx_transport_traits,
    .make =
        [](TransportTools const& tools) {
          return make_ucx_transport(tools.bootstrap, tools.secret, tools.refused);
        },
    .what_is_missing = [](Bootstrap& /*bootstrap*/) { return reason_without_ucx(); },
    .how_known = "its library was loaded"};

constexpr TransportEntry mpi{
    .route = Route::mpi,
    .option = "TESSERA_WITH_MPI",
    .traits = mpi_transport_traits,
    .make = [](TransportTools const& tools) { return make_mpi_transport(tools.bootstrap); },
    .what_is_missing = missing_for_mpi,
    .how_known = "a launcher of MPI started the program"};

constexpr std::array table{local, shm, ucx, mpi};

// Where processes of a host share no memory they are in different containers, whose shared memory
// UCX would try in vain and for long.
constexpr std::array within_process{Route::local};
constexpr std::array within_host{Route::shm, Route::mpi, Route::ucx};
constexpr std::array across_hosts{Route::ucx, Route::mpi};

TransportFacts facts_of(TransportEntry const& entry, Bootstrap& bootstrap) {
  auto const* const traits = entry.traits();
  auto missing = traits == nullptr
                     ? std::string("not in this build; configure with -D") + entry.option + "=ON"
                     : entry.what_is_missing(bootstrap);
  bool const is_there = missing.empty();
  return {entry.route, traits, is_there, is_there ? entry.how_known : std::move(missing)};
}

}  // namespace

std::span<TransportEntry const> transport_table() {
  return table;
}

std::span<Route const> preferred_routes(Distance distance) {
  if (distance == Distance::process) return within_process;
  if (distance == Distance::host) return within_host;
  return across_hosts;
}

bool is_between_processes(Route route) {
  return std::find(within_process.begin(), within_process.end(), route) == within_process.end();
}

bool reaches(TransportTraits const& traits, Distance distance) {
  if (distance == Distance::process) return traits.within_process;
  return distance == Distance::host ? traits.within_host : traits.crosses_hosts;
}

bool is_built(Route route) {
  return std::none_of(table.begin(), table.end(), [&](TransportEntry const& entry) {
    return entry.route == route && entry.traits() == nullptr;
  });
}

std::vector<Route> optional_routes() {
  std::vector<Route> routes;
  for (auto const& entry : table)
    if (entry.option != nullptr) routes.push_back(entry.route);
  return routes;
}

std::vector<TransportFacts> transport_facts(Bootstrap& bootstrap) {
  std::vector<TransportFacts> facts;
  for (auto const& entry : table) facts.push_back(facts_of(entry, bootstrap));
  return facts;
}

}  // namespace tessera
