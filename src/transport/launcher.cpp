#include <array>
#include <string_view>

#include "tessera/base/environment.hpp"
#include "tessera/transport/bootstrap.hpp"

namespace tessera {

bool launched_by_mpi() {
  // Inside an allocation of Slurm the SLURM_ variables are there without srun too; they say
  // nothing. A step of srun that can start MPI sets the variables of PMI or PMIx as well.
  constexpr std::array<std::string_view, 6> variables{
      "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "PMI_FD", "MPI_LOCALRANKID"};
  for (auto const variable : variables)
    if (environment(variable)) return true;
  return false;
}

}  // namespace tessera
