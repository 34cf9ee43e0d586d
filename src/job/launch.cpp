#include "src/job/launch.hpp"

#include <array>
#include <charconv>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/job/bootstrap.hpp"

namespace tessera {
namespace {

std::optional<std::int64_t> number_in(std::string_view digits) {
  std::int64_t number = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end || number < 0) return std::nullopt;
  return number;
}

/// The first of the variables that is a number.
std::optional<std::int64_t> number(EnvironmentLookup const& variable,
                                   std::initializer_list<std::string_view> names) {
  for (auto const name : names)
    if (auto const value = variable(name))
      if (auto const found = number_in(*value)) return found;
  return std::nullopt;
}

std::string word(EnvironmentLookup const& variable, std::initializer_list<std::string_view> names) {
  for (auto const name : names)
    if (auto value = variable(name)) return *std::move(value);
  return {};
}

bool any(EnvironmentLookup const& variable, std::initializer_list<std::string_view> names) {
  return !word(variable, names).empty();
}

Launcher launcher_by(EnvironmentLookup const& variable) {
  if (any(variable, {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"})) return Launcher::open_mpi;
  if (any(variable, {"PMIX_RANK"})) return Launcher::pmix;
  if (any(variable, {"PMI_RANK", "PMI_SIZE", "PMI_FD", "MPI_LOCALRANKID"})) return Launcher::pmi;
  // An allocation alone, without a step of srun, has no number for the process.
  if (any(variable, {"SLURM_PROCID"})) return Launcher::slurm;
  return Launcher::nobody;
}

void add_open_mpi(LaunchFacts& facts, EnvironmentLookup const& variable) {
  facts.process = number(variable, {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"});
  facts.process_count = number(variable, {"OMPI_COMM_WORLD_SIZE"});
  facts.local_process = number(variable, {"OMPI_COMM_WORLD_LOCAL_RANK"});
  facts.local_count = number(variable, {"OMPI_COMM_WORLD_LOCAL_SIZE"});
  facts.job = word(variable, {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
}

void add_pmi(LaunchFacts& facts, EnvironmentLookup const& variable) {
  facts.process = number(variable, {"PMI_RANK", "PMI_ID"});
  facts.process_count = number(variable, {"PMI_SIZE"});
  facts.local_process = number(variable, {"MPI_LOCALRANKID"});
  facts.local_count = number(variable, {"MPI_LOCALNRANKS"});
  facts.job = word(variable, {"PMI_JOBID"});
}

void add_slurm(LaunchFacts& facts, EnvironmentLookup const& variable) {
  facts.process = number(variable, {"SLURM_PROCID"});
  facts.process_count = number(variable, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"});
  facts.local_process = number(variable, {"SLURM_LOCALID"});
  facts.job = word(variable, {"SLURM_JOB_ID", "SLURM_JOBID"});
  facts.host_list = word(variable, {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"});
}

void add_pmix(LaunchFacts& facts, EnvironmentLookup const& variable) {
  auto const name = word(variable, {"PMIX_NAMESPACE"});
  // PMIx itself provides only the rank. If Slurm is its server, Slurm's variables belong to the
  // same step; otherwise they belong to the allocation, or to a daemon in it.
  if (name.starts_with("slurm.pmix.")) add_slurm(facts, variable);
  facts.process = number(variable, {"PMIX_RANK"});
  facts.job = name;
}

/// "61440 + n mod 4096": the upper sixteenth of the ports, which are not assigned to services.
int port_of(std::int64_t job) {
  return static_cast<int>(61440 + job % 4096);
}

/// The text up to `mark` is cut off the front of `rest`, the mark too; all of it without one.
std::string_view take_until(std::string_view& rest, std::string_view mark) {
  auto const place = rest.find(mark);
  auto const front = rest.substr(0, place);
  rest.remove_prefix(place == std::string_view::npos ? rest.size() : place + mark.size());
  return front;
}

[[noreturn]] void fail_on(std::string_view name, std::string_view value, std::string_view why) {
  throw ConfigError(text(name, "=", excerpt(value), " ", why,
                         "; processes that have to meet without MPI need an address of their own"));
}

/// Of "tcp4://10.0.0.1,10.0.0.2:4711" or "tcp6://[fe80::1,fe80::2]:4711" the first address.
std::string address_in(std::string_view contact) {
  (void)take_until(contact, "://");
  bool const is_bracketed = contact.starts_with('[');
  if (is_bracketed) contact.remove_prefix(1);
  auto const addresses = contact.substr(0, is_bracketed ? contact.find(']') : contact.rfind(':'));
  return std::string(addresses.substr(0, addresses.find(',')));
}

/// "1531576320.0;tcp://10.96.0.1,10.148.0.1:34911"
Rendezvous rendezvous_of_orte(std::string_view uri) {
  auto rest = uri;
  auto const job = number_in(take_until(rest, "."));
  (void)take_until(rest, ";");
  auto const host = address_in(rest);
  if (!job || host.empty()) fail_on("OMPI_MCA_orte_hnp_uri", uri, "is not of a known form");
  return {host, port_of(*job / 65536)};
}

/// PMIx 5: "prterun-hydra-3874047@0.0;tcp4://118.143.212.23:49157", the job's number is the last
/// before the "@"; 2 and 3: "pmix-server.40985;tcp4://127.0.0.1:48103", it is behind the point.
Rendezvous rendezvous_of_pmix(std::string_view uri, bool is_version_5) {
  auto rest = uri;
  auto name = take_until(rest, ";");
  if (is_version_5) name = name.substr(0, name.find('@'));
  auto const job = number_in(name.substr(name.rfind(is_version_5 ? '-' : '.') + 1));
  auto const host = address_in(rest);
  if (!job || host.empty()) fail_on("PMIX_SERVER_URI", uri, "is not of a known form");
  return {host, port_of(*job)};
}

Rendezvous rendezvous_by_pmix(EnvironmentLookup const& variable) {
  auto const version = word(variable, {"PMIX_VERSION"});
  auto const uri = word(variable, {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
                                   "PMIX_SERVER_URI21", "PMIX_SERVER_URI2"});
  if (uri.empty()) fail_on("PMIX_SERVER_URI", "", "is not set");
  switch (version.empty() ? '?' : version.front()) {
    case '2':
    case '3':
      return rendezvous_of_pmix(uri, false);
    case '5':
      return rendezvous_of_pmix(uri, true);
    default:
      fail_on("PMIX_VERSION", version,
              text("is none whose addresses are known (2, 3 and 5 are); the server's is ",
                   excerpt(uri)));
  }
}

}  // namespace

std::string_view to_string(Launcher launcher) {
  constexpr std::array<std::string_view, 5> names{"nobody", "Open MPI", "PMIx", "PMI", "Slurm"};
  return names.at(static_cast<std::size_t>(launcher));
}

std::ostream& operator<<(std::ostream& out, Launcher launcher) {
  return out << to_string(launcher);
}

std::ostream& operator<<(std::ostream& out, LaunchFacts const& facts) {
  auto const show = [&](std::string_view name, std::optional<std::int64_t> const& value) {
    if (value) out << ", " << name << ' ' << *value;
  };
  out << facts.launcher;
  show("process", facts.process);
  show("of", facts.process_count);
  show("local", facts.local_process);
  show("of", facts.local_count);
  if (!facts.job.empty()) out << ", job " << excerpt(facts.job);
  if (!facts.host_list.empty()) out << ", hosts " << excerpt(facts.host_list);
  return out;
}

std::ostream& operator<<(std::ostream& out, Rendezvous const& point) {
  bool const is_ipv6 = point.host.find(':') != std::string::npos;
  return out << (is_ipv6 ? "[" : "") << printable(point.host) << (is_ipv6 ? "]:" : ":")
             << point.port;
}

LaunchFacts launch_facts(EnvironmentLookup const& variable) {
  LaunchFacts facts;
  facts.launcher = launcher_by(variable);
  switch (facts.launcher) {
    case Launcher::open_mpi:
      add_open_mpi(facts, variable);
      break;
    case Launcher::pmix:
      add_pmix(facts, variable);
      break;
    case Launcher::pmi:
      add_pmi(facts, variable);
      break;
    case Launcher::slurm:
      add_slurm(facts, variable);
      break;
    case Launcher::nobody:
      break;
  }
  return facts;
}

LaunchFacts launch_facts() {
  return launch_facts([](std::string_view name) { return environment(name); });
}

std::string launch_warning(EnvironmentLookup const& variable) {
  auto const facts = launch_facts(variable);
  // Of the step: a script of a batch job has the number of the allocation.
  auto const tasks = number(variable, {"SLURM_STEP_NUM_TASKS"}).value_or(1);
  if (facts.launcher != Launcher::slurm || tasks < 2 || facts.process != 0) return {};
  return text("srun started ", tasks,
              " processes without MPI, and each of them runs the whole program alone; use srun "
              "--mpi=pmix, or the mpirun of the MPI that the program is linked with");
}

bool launched_by_mpi() {
  return launch_facts().starts_mpi();
}

Rendezvous rendezvous(EnvironmentLookup const& variable) {
  auto const orte = word(variable, {"OMPI_MCA_orte_hnp_uri"});
  if (!orte.empty()) return rendezvous_of_orte(orte);
  if (any(variable, {"PMIX_NAMESPACE", "PMIX_VERSION"})) {
    auto const is_of_slurm = word(variable, {"PMIX_NAMESPACE"}).starts_with("slurm.pmix.");
    if (!is_of_slurm) return rendezvous_by_pmix(variable);
  }
  LaunchFacts facts;
  add_slurm(facts, variable);
  auto const job = number_in(facts.job);
  if (!job) fail_on("SLURM_JOB_ID", facts.job, "is not a job number");
  return {first_host(facts.host_list), port_of(*job)};
}

}  // namespace tessera
