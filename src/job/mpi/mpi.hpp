#pragma once
/// @file
/// MPI's C interface alone: the C++ bindings that some MPIs still bring were removed in MPI 3.0,
/// and would need another library.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
