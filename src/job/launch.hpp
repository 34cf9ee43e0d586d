#pragma once
/// @file
/// Reads a launcher's variables about the job, in one place.
///
/// All functions take a lookup, so that tests can pass maps; only programs read the environment.

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// The value of a variable; nothing if it is unset or empty.
using EnvironmentLookup = std::function<std::optional<std::string>(std::string_view name)>;

/// Who started the process. `slurm` is srun without PMI and PMIx, which starts no MPI.
enum class Launcher : std::uint8_t { nobody, open_mpi, pmix, pmi, slurm };
/// "Open MPI", "PMIx", "PMI", "Slurm" or "nobody".
[[nodiscard]] std::string_view to_string(Launcher launcher);
std::ostream& operator<<(std::ostream& out, Launcher launcher);

/// The facts that the launcher has passed to this process. A missing or unreadable number is left
/// out.
struct LaunchFacts {
  Launcher launcher = Launcher::nobody;
  std::optional<std::int64_t> process;        ///< this one, from 0
  std::optional<std::int64_t> process_count;  ///< of the job
  std::optional<std::int64_t> local_process;  ///< this one's position among those of its host
  std::optional<std::int64_t> local_count;    ///< processes of this host
  std::string job;                            ///< the launcher's name for it; empty if none
  std::string host_list;  ///< of Slurm, in its own form: "n[1-3,07],gpu2"; empty elsewhere

  /// True if the processes can start MPI together.
  [[nodiscard]] bool starts_mpi() const {
    return launcher != Launcher::nobody && launcher != Launcher::slurm;
  }
  friend bool operator==(LaunchFacts const&, LaunchFacts const&) = default;
};
std::ostream& operator<<(std::ostream& out, LaunchFacts const& facts);

/// Reads the variables of the innermost launcher: those of Open MPI, PMIx or PMI count before
/// Slurm's, which are also there where mpirun runs inside an allocation. Ranks: local.
[[nodiscard]] LaunchFacts launch_facts(EnvironmentLookup const& variable);
/// The same of this process's environment.
[[nodiscard]] LaunchFacts launch_facts();

/// A warning for the person who started the program, in one sentence; empty if all is well. Only
/// the first process prints it.
[[nodiscard]] std::string launch_warning(EnvironmentLookup const& variable);

/// The hosts of a list as Slurm writes it, in its order: "n[1-3,07],gpu2" is n1 n2 n3 n07 gpu2.
/// Throws: ConfigError, quoting the list, if it has another form or more than a million hosts.
[[nodiscard]] std::vector<std::string> expand_hosts(std::string_view list);
/// The first of them; the others are not made.
[[nodiscard]] std::string first_host(std::string_view list);

/// A rendezvous address of a job without MPI: for libraries that need a coordinator.
struct Rendezvous {
  std::string host;  ///< a name or an address
  int port = 0;      ///< from the job's number: 61440 + number mod 4096

  friend bool operator==(Rendezvous const&, Rendezvous const&) = default;
};
std::ostream& operator<<(std::ostream& out, Rendezvous const& point);

/// The same on every process of the job, by the launcher's variables alone; nothing is sent.
/// Throws: ConfigError, naming the variable, if the launcher provides no address or one of an
///         unknown form.
/// Source: the rule for the port is that of JAX and of Reactant; jobs of Open MPI's own runtime
///         count by their number / 65536, since the rest of that is 0 for each of them.
[[nodiscard]] Rendezvous rendezvous(EnvironmentLookup const& variable);

}  // namespace tessera
