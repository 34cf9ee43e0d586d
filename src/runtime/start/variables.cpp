#include "src/runtime/start/variables.hpp"

#include <cstdint>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/environment.hpp"
#include "src/device/drivers/drivers.hpp"
#include "src/device/emulated/peers.hpp"
#include "src/execution/gpu_channels/gpu_route_choice.hpp"
#include "src/execution/pairs/pair_options.hpp"
#include "src/layout/colors.hpp"
#include "src/mesh/axis_roles.hpp"
#include "src/plan/exchange/forwarding.hpp"
#include "src/plan/loop_variables.hpp"
#include "src/runtime/profiler/observer.hpp"
#include "src/runtime/start/agreement.hpp"
#include "src/transport/network_options.hpp"

namespace tessera {
namespace {

// Reads all variables as their users do, wherever those are.
void read_all(ProcessId self) {
  (void)environment_choice("TESSERA_DEVICE", device_words());
  (void)environment_integer("TESSERA_DEVICES", 1);
  (void)NetworkOptions::from_environment();
  (void)gpu_route_asked_for();
  (void)emulated::limit_of_peers();
  (void)LoopVariables::from_environment();
  (void)forward_variable();
  (void)Costs::from_environment();
  (void)AxisRoles::from_environment();
  (void)PairOptions::value_of_variable();
  (void)colors_asked_for();
  auto const observed = ObserverVariables::from_environment();
  if (observed.trace) check_trace_file(*observed.trace, self);
}

// Plans follow from these variables.
std::int64_t hash_of_plan_variables() {
  std::uint64_t hash = 0;
  for (auto const* name : {"TESSERA_FORWARD", "TESSERA_COSTS", "TESSERA_ROLES"})
    hash = mix(hash, hash_text(environment(name).value_or("")));
  return static_cast<std::int64_t>(hash >> 2);
}

std::string reason_against_variables(ProcessId self) {
  try {
    read_all(self);
    return "";
  } catch (ConfigError const& error) {
    return error.what();
  }
}

}  // namespace

void check_variables(Bootstrap& bootstrap) {
  throw_alike(bootstrap, reason_against_variables(bootstrap.self()));
  if (!bootstrap.is_equal_on_all(hash_of_plan_variables()))
    throw ConfigError(
        "TESSERA_FORWARD, TESSERA_COSTS or TESSERA_ROLES is not the same on all processes; give "
        "them to all, as with mpirun -x");
}

}  // namespace tessera
