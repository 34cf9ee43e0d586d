#pragma once
/// @file
/// Everything that a program can use, without the headers of other libraries
/// (tessera/array/kokkos_view.hpp, tessera/job/mpi_communicator.hpp).

#include "tessera/collectives.hpp"
#include "tessera/products.hpp"
#include "tessera/random.hpp"
#include "tessera/strategies.hpp"
#include "tessera/tessera.hpp"
