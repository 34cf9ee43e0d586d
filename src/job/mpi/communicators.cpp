#include "src/job/mpi/communicators.hpp"

#include "tessera/base/error.hpp"

#include "src/job/mpi/check.hpp"

namespace tessera::mpi {
namespace {

bool is_initialised() {
  int initialised = 0;
  check(MPI_Initialized(&initialised), "MPI_Initialized");
  return initialised != 0;
}

void check_not_finalised() {
  int finalised = 0;
  check(MPI_Finalized(&finalised), "MPI_Finalized");
  if (finalised != 0)
    throw UsageError(
        "MPI has been finalised and cannot start again; a program that makes several Runtimes, one "
        "after the other, initialises MPI itself before the first and finalises it after the last");
}

/// Only one thread may call MPI unless it was initialised for more.
void check_thread() {
  int provided = MPI_THREAD_SINGLE;
  int is_main = 0;
  check(MPI_Query_thread(&provided), "MPI_Query_thread");
  check(MPI_Is_thread_main(&is_main), "MPI_Is_thread_main");
  if (provided < MPI_THREAD_SERIALIZED && is_main == 0)
    throw UsageError(
        "MPI was initialised for calls by the thread that initialised it, and this is another one; "
        "make the Runtime there, or initialise MPI with MPI_THREAD_SERIALIZED");
}

void check_communicator(MPI_Comm communicator) {
  if (communicator == MPI_COMM_NULL)
    throw UsageError(
        "MPI_COMM_NULL has no processes; only those of the communicator make a Runtime");
  int is_inter = 0;
  check(MPI_Comm_test_inter(communicator, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    throw UsageError(
        "an intercommunicator joins two groups, but a Runtime needs one group; merge them "
        "by MPI_Intercomm_merge");
}

}  // namespace

MPI_Comm duplicate(MPI_Comm original) {
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(original, &made), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return made;
}

std::optional<std::int64_t> translated(int rank, MPI_Comm from, MPI_Comm to) {
  MPI_Group from_group = MPI_GROUP_NULL;
  MPI_Group to_group = MPI_GROUP_NULL;
  check(MPI_Comm_group(from, &from_group), "MPI_Comm_group");
  check(MPI_Comm_group(to, &to_group), "MPI_Comm_group");
  int found = MPI_UNDEFINED;
  int size = 0;
  check(MPI_Group_size(from_group, &size), "MPI_Group_size");
  if (rank < size)
    check(MPI_Group_translate_ranks(from_group, 1, &rank, to_group, &found),
          "MPI_Group_translate_ranks");
  MPI_Group_free(&from_group);
  MPI_Group_free(&to_group);
  return found == MPI_UNDEFINED ? std::nullopt : std::optional<std::int64_t>(found);
}

Progress progress_in(MPI_Comm communicator) {
  int rank = 0;
  int size = 0;
  check(MPI_Comm_rank(communicator, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(communicator, &size), "MPI_Comm_size");
  auto const first = translated(0, communicator, MPI_COMM_WORLD).value_or(0);
  return {first << 32 | size, rank, 0};
}

void free_communicator(MPI_Comm& communicator) {
  if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
}

MPI_Comm checked(MPI_Comm communicator) {
  if (!is_initialised())
    throw UsageError(
        "MPI is not initialised; call MPI_Init_thread before a Runtime takes a communicator");
  check_not_finalised();
  check_thread();
  check_communicator(communicator);
  return communicator;
}

bool initialise(int& argc, char**& argv) {
  check_not_finalised();
  if (is_initialised()) {
    check_thread();
    return false;
  }
  int provided = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  return true;
}

}  // namespace tessera::mpi
