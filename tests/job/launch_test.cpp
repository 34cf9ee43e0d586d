#include "src/job/launch.hpp"

#include <map>
#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/launch");

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

EnvironmentLookup in(Variables variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    auto const found = variables.find(name);
    if (found == variables.end() || found->second.empty()) return std::nullopt;
    return found->second;
  };
}

Variables const of_an_allocation{{"SLURM_JOB_ID", "12345"},
                                 {"SLURM_NTASKS", "64"},
                                 {"SLURM_NODELIST", "node[001,007-015],host2"}};

Variables with(Variables variables, Variables const& more) {
  for (auto const& [name, value] : more) variables[name] = value;
  return variables;
}

}  // namespace

TEST_CASE("a program started alone has no launcher") {
  auto const facts = launch_facts(in({{"PATH", "/bin"}}));

  CHECK(facts == LaunchFacts{});
  CHECK_FALSE(facts.starts_mpi());
}

TEST_CASE("an allocation without srun starts nothing") {
  CHECK(launch_facts(in(of_an_allocation)) == LaunchFacts{});
}

TEST_CASE("Open MPI tells all four numbers") {
  auto const facts = launch_facts(in({{"OMPI_COMM_WORLD_RANK", "5"},
                                      {"OMPI_COMM_WORLD_SIZE", "8"},
                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                      {"PMIX_NAMESPACE", "2471952385"},
                                      {"PMIX_RANK", "5"}}));

  CHECK(facts == LaunchFacts{Launcher::open_mpi, 5, 8, 1, 4, "2471952385", ""});
  CHECK(facts.starts_mpi());
}

TEST_CASE("mpirun inside an allocation counts, not the allocation around it") {
  auto const daemon = with(of_an_allocation, {{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "0"}});

  SUBCASE("Open MPI") {
    auto const facts = launch_facts(
        in(with(daemon, {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}})));
    CHECK(facts == LaunchFacts{Launcher::open_mpi, 1, 2, {}, {}, "", ""});
  }
  SUBCASE("PMIx") {
    auto const facts =
        launch_facts(in(with(daemon, {{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "prterun-a-7@1"}})));
    CHECK(facts == LaunchFacts{Launcher::pmix, 1, {}, {}, {}, "prterun-a-7@1", ""});
  }
  SUBCASE("Hydra") {
    auto const facts = launch_facts(in(with(daemon, {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})));
    CHECK(facts == LaunchFacts{Launcher::pmi, 1, 2, {}, {}, "", ""});
  }
}

TEST_CASE("srun --mpi=pmix: the rank is PMIx's, the rest Slurm's") {
  auto const facts =
      launch_facts(in(with(of_an_allocation, {{"PMIX_RANK", "3"},
                                              {"PMIX_NAMESPACE", "slurm.pmix.12345.0"},
                                              {"SLURM_PROCID", "3"},
                                              {"SLURM_LOCALID", "1"},
                                              {"SLURM_STEP_NUM_TASKS", "4"},
                                              {"SLURM_STEP_NODELIST", "node[001,007]"}})));

  CHECK(facts == LaunchFacts{Launcher::pmix, 3, 4, 1, {}, "slurm.pmix.12345.0", "node[001,007]"});
  CHECK(facts.starts_mpi());
}

TEST_CASE("MPICH's launcher tells its numbers, or only a descriptor") {
  CHECK(launch_facts(in({{"PMI_RANK", "2"},
                         {"PMI_SIZE", "4"},
                         {"PMI_FD", "9"},
                         {"MPI_LOCALRANKID", "2"},
                         {"MPI_LOCALNRANKS", "4"}})) ==
        LaunchFacts{Launcher::pmi, 2, 4, 2, 4, "", ""});
  CHECK(launch_facts(in({{"PMI_FD", "9"}})).starts_mpi());
}

TEST_CASE("srun alone starts processes, but no MPI") {
  auto const facts =
      launch_facts(in(with(of_an_allocation, {{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}})));

  CHECK(facts == LaunchFacts{Launcher::slurm, 3, 64, 1, {}, "12345", "node[001,007-015],host2"});
  CHECK_FALSE(facts.starts_mpi());
}

TEST_CASE("several processes of srun without MPI are warned about, once") {
  auto const step = with(of_an_allocation, {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}});

  CHECK(launch_warning(in(step)).starts_with("srun started 4 processes without MPI"));
  CHECK(launch_warning(in(with(step, {{"SLURM_PROCID", "1"}}))).empty());
  CHECK(launch_warning(in(with(step, {{"SLURM_STEP_NUM_TASKS", "1"}}))).empty());
  CHECK(launch_warning(in(with(step, {{"PMIX_RANK", "0"}}))).empty());
  CHECK(launch_warning(in(with(of_an_allocation, {{"SLURM_PROCID", "0"}}))).empty());
  CHECK(launch_warning(in({})).empty());
}

TEST_CASE("what is no number is left out") {
  auto const facts = launch_facts(in({{"OMPI_COMM_WORLD_RANK", "-1"},
                                      {"OMPI_COMM_WORLD_SIZE", "8 or so"},
                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "99999999999999999999"}}));

  CHECK(facts == LaunchFacts{Launcher::open_mpi, {}, {}, {}, {}, "", ""});
}

TEST_CASE("jobs of Slurm meet on their first host, at a port of the job's number") {
  for (auto const* list :
       {"node001", "node001,host2", "node[001-015],host2", "node[001,007-015],host2"}) {
    CAPTURE(list);
    CHECK(rendezvous(in({{"SLURM_JOB_ID", "12345"}, {"SLURM_NODELIST", list}})) ==
          Rendezvous{"node001", 61497});
  }
}

TEST_CASE("jobs of PMIx meet where its server is") {
  CHECK(rendezvous(
            in({{"PMIX_VERSION", "5.0.1"},
                {"PMIX_NAMESPACE", "prterun-hydra-3874047@1"},
                {"PMIX_SERVER_URI41", "prterun-hydra-3874047@0.0;tcp4://118.143.212.23:49157"}})) ==
        Rendezvous{"118.143.212.23", 64767});
  CHECK(rendezvous(in({{"PMIX_VERSION", "3.2.3"},
                       {"PMIX_NAMESPACE", "1"},
                       {"PMIX_SERVER_URI3", "pmix-server.40985;tcp4://127.0.0.1:48103"}})) ==
        Rendezvous{"127.0.0.1", 61465});
  CHECK_THROWS_AS((void)rendezvous(in({{"PMIX_VERSION", "4.1.5"},
                                       {"PMIX_NAMESPACE", "a"},
                                       {"PMIX_SERVER_URI41", "a.0;tcp4://127.0.0.1:48103"}})),
                  ConfigError);
}

TEST_CASE("jobs of Open MPI's runtime meet at its first address, one port a job") {
  CHECK(rendezvous(in({{"OMPI_MCA_orte_hnp_uri",
                        "1531576320.0;tcp://10.96.0.1,10.148.0.1,10.108.0.1:34911"}})) ==
        Rendezvous{"10.96.0.1", 61440 + 1531576320 / 65536 % 4096});
  CHECK(rendezvous(in({{"OMPI_MCA_orte_hnp_uri",
                        "1314521088.0;tcp6://[fe80::b9b:ac5d:9cf0:b858,2620:10d:c083:150e::3000:"
                        "2]:43370"}})) ==
        Rendezvous{"fe80::b9b:ac5d:9cf0:b858", 61440 + 1314521088 / 65536 % 4096});
  // Inside an allocation too.
  CHECK(rendezvous(in(with(of_an_allocation,
                           {{"OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp://10.96.0.1:34911"}})))
            .host == "10.96.0.1");
}

TEST_CASE("without a launcher that tells a place there is an error that says so") {
  CHECK_THROWS_AS((void)rendezvous(in({})), ConfigError);
  CHECK_THROWS_AS((void)rendezvous(in({{"OMPI_MCA_orte_hnp_uri", "nonsense"}})), ConfigError);
  CHECK_THROWS_AS(
      (void)rendezvous(in({{"PMIX_VERSION", "3.1"}, {"PMIX_SERVER_URI2", "pmix-server;x"}})),
      ConfigError);
}

TEST_CASE("what a launcher says is printed in short, and cannot steer the terminal") {
  LaunchFacts facts;
  facts.job = "\x1b[2J" + std::string(100, 'j');
  facts.host_list = "\x1b";
  CHECK(text(facts).starts_with("nobody, job \\x1b[2Jjj"));
  CHECK(text(facts).size() < 200);
  CHECK(text(facts).ends_with(", hosts \\x1b"));
  CHECK(text(Rendezvous{"\x1b", 61440}) == "\\x1b:61440");
}

TEST_SUITE_END();
