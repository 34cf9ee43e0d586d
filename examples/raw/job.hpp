#pragma once
/// @file
/// MPI's start and end, and numbers over all processes.

#include <cstdint>
#include <vector>

#include <mpi.h>

namespace raw {

class Job {
 public:
  Job(int& argc, char**& argv) { MPI_Init(&argc, &argv); }
  ~Job() { MPI_Finalize(); }
  Job(Job const&) = delete;
  Job& operator=(Job const&) = delete;

  [[nodiscard]] int rank() const {
    int result = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &result);
    return result;
  }
  [[nodiscard]] int size() const {
    int result = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &result);
    return result;
  }

  [[nodiscard]] double sum(double value) const { return reduced(value, MPI_DOUBLE, MPI_SUM); }
  [[nodiscard]] double max(double value) const { return reduced(value, MPI_DOUBLE, MPI_MAX); }
  [[nodiscard]] std::uint64_t sum(std::uint64_t value) const {
    return reduced(value, MPI_UINT64_T, MPI_SUM);
  }
  /// Entries that one process set and the others left 0, on every process.
  void gather(std::vector<double>& values) const {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  void wait_for_all() const { MPI_Barrier(MPI_COMM_WORLD); }

 private:
  template <class T>
  static T reduced(T value, MPI_Datatype type, MPI_Op operation) {
    T result{};
    MPI_Allreduce(&value, &result, 1, type, operation, MPI_COMM_WORLD);
    return result;
  }
};

}  // namespace raw
