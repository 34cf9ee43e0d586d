#pragma once
/// @file
/// The heat equation by hand for a GPU: kernels as one would write them first, and between
/// processes copies through pinned memory and MPI. For nvcc.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <mpi.h>

namespace raw {

inline void check(cudaError_t error, char const* call) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(error));
  std::exit(1);
}

/// Weights of a cell itself and of each of its neighbours.
struct Weights {
  double stay, pass;
};

/// The cells of one step: those of planes [0, planes), each of rows * columns cells, from and to
/// the first of them. Ends of rows and columns are kept, unless there is but one.
struct Planes {
  double const* now;
  double* next;
  std::int64_t planes, rows, columns;
};

// One cell each; a block has 256 threads.

__global__ void heat_1d(Planes p, Weights w) {
  auto const i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= p.planes) return;
  p.next[i] = w.stay * p.now[i] + w.pass * p.now[i - 1] + w.pass * p.now[i + 1];
}

__global__ void heat_2d(Planes p, Weights w) {
  auto const j = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x + 1;
  auto const i = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= p.planes || j >= p.columns - 1) return;
  auto const at = i * p.columns + j;
  p.next[at] = w.stay * p.now[at] + w.pass * p.now[at - p.columns] +
               w.pass * p.now[at + p.columns] + w.pass * p.now[at - 1] + w.pass * p.now[at + 1];
}

__global__ void heat_3d(Planes p, Weights w) {
  auto const k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x + 1;
  auto const j = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y + 1;
  auto const i = static_cast<std::int64_t>(blockIdx.z);
  if (j >= p.rows - 1 || k >= p.columns - 1) return;
  auto const plane = p.rows * p.columns;
  auto const at = i * plane + j * p.columns + k;
  p.next[at] = w.stay * p.now[at] + w.pass * p.now[at - plane] + w.pass * p.now[at + plane] +
               w.pass * p.now[at - p.columns] + w.pass * p.now[at + p.columns] +
               w.pass * p.now[at - 1] + w.pass * p.now[at + 1];
}

/// Heat in a field whose planes are cut over the processes; all its outer cells are kept.
class CudaHeat {
 public:
  /// `kernel` is one of the above; a plane has rows * columns cells.
  CudaHeat(int dimensions, std::int64_t planes, std::int64_t rows, std::int64_t columns, Weights w)
      : dimensions_(dimensions), planes_(planes), rows_(rows), columns_(columns), weights_(w) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &processes_);
    first_ = planes * rank_ / processes_;
    count_ = planes * (rank_ + 1) / processes_ - first_;
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    for (auto** buffer : {&now_, &next_})
      check(cudaMalloc(buffer, static_cast<std::size_t>((count_ + 2) * plane()) * sizeof(double)),
            "cudaMalloc");
    check(cudaMallocHost(&host_, static_cast<std::size_t>(4 * plane()) * sizeof(double)),
          "cudaMallocHost");
  }
  ~CudaHeat() {
    cudaStreamSynchronize(stream_);
    cudaFree(now_);
    cudaFree(next_);
    cudaFreeHost(host_);
    cudaStreamDestroy(stream_);
  }
  CudaHeat(CudaHeat const&) = delete;
  CudaHeat& operator=(CudaHeat const&) = delete;

  /// f(cell) by a cell's row-major number.
  template <class F>
  void fill(F const& f) {
    std::vector<double> cells(static_cast<std::size_t>((count_ + 2) * plane()));
    for (auto i = std::max<std::int64_t>(first_ - 1, 0); i < std::min(first_ + count_ + 1, planes_);
         ++i)
      for (std::int64_t j = 0; j < plane(); ++j)
        cells[static_cast<std::size_t>((i - first_ + 1) * plane() + j)] = f(i * plane() + j);
    for (auto* buffer : {now_, next_})
      check(cudaMemcpy(buffer, cells.data(), cells.size() * sizeof(double), cudaMemcpyDefault),
            "cudaMemcpy");
  }

  void step() {
    if (processes_ > 1) exchange();
    launch();
    std::swap(now_, next_);
  }
  /// Until all steps are done.
  void wait() { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  /// Own cells, copied as often as this; reads and writes the bytes that as many steps have to.
  void copy(std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i)
      check(cudaMemcpyAsync(next_ + plane(), now_ + plane(), own_bytes(), cudaMemcpyDeviceToDevice,
                            stream_),
            "cudaMemcpyAsync");
    wait();
  }

  /// An even number of steps as a graph, for one process. The caller destroys it.
  [[nodiscard]] cudaGraphExec_t graph_of(std::int64_t steps) {
    cudaGraph_t graph{};
    cudaGraphExec_t made{};
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "capture");
    for (std::int64_t i = 0; i < steps; ++i) step();
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return made;
  }
  void run(cudaGraphExec_t graph) { check(cudaGraphLaunch(graph, stream_), "cudaGraphLaunch"); }

  /// visit(cell, value) for the cells of this process.
  template <class Visit>
  void for_each(Visit const& visit) {
    std::vector<double> cells(static_cast<std::size_t>(count_ * plane()));
    wait();
    check(cudaMemcpy(cells.data(), now_ + plane(), own_bytes(), cudaMemcpyDefault), "cudaMemcpy");
    for (std::int64_t i = 0; i < count_ * plane(); ++i)
      visit(first_ * plane() + i, cells[static_cast<std::size_t>(i)]);
  }

 private:
  [[nodiscard]] std::int64_t plane() const { return rows_ * columns_; }
  [[nodiscard]] std::size_t own_bytes() const {
    return static_cast<std::size_t>(count_ * plane()) * sizeof(double);
  }

  void launch() {
    auto const begin = std::max<std::int64_t>(first_, 1);
    auto const end = std::min(first_ + count_, planes_ - 1);
    if (begin >= end) return;
    auto const skipped = (begin - first_ + 1) * plane();
    Planes const p{now_ + skipped, next_ + skipped, end - begin, rows_, columns_};
    auto const blocks = [](std::int64_t cells, unsigned threads) {
      return static_cast<unsigned>((cells + threads - 1) / threads);
    };
    if (dimensions_ == 1)
      heat_1d<<<blocks(p.planes, 256), 256, 0, stream_>>>(p, weights_);
    else if (dimensions_ == 2)
      heat_2d<<<dim3(blocks(columns_, 256), static_cast<unsigned>(p.planes)), 256, 0, stream_>>>(
          p, weights_);
    else
      heat_3d<<<dim3(blocks(columns_, 64), blocks(rows_, 4), static_cast<unsigned>(p.planes)),
                dim3(64, 4), 0, stream_>>>(p, weights_);
    check(cudaPeekAtLastError(), "a launch");
  }

  // The first and the last own plane go to the neighbours, and theirs come.
  void exchange() {
    auto const bytes = static_cast<std::size_t>(plane()) * sizeof(double);
    auto const cells = static_cast<int>(plane());
    auto* const sent = host_;
    auto* const received = host_ + 2 * plane();
    auto const below = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    auto const above = rank_ + 1 < processes_ ? rank_ + 1 : MPI_PROC_NULL;
    auto const copy = [&](double* to, double const* from) {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync");
    };
    if (below != MPI_PROC_NULL) copy(sent, now_ + plane());
    if (above != MPI_PROC_NULL) copy(sent + plane(), now_ + count_ * plane());
    wait();
    MPI_Sendrecv(sent, cells, MPI_DOUBLE, below, 0, received + plane(), cells, MPI_DOUBLE, above, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(sent + plane(), cells, MPI_DOUBLE, above, 1, received, cells, MPI_DOUBLE, below, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (below != MPI_PROC_NULL) copy(now_, received);
    if (above != MPI_PROC_NULL) copy(now_ + (count_ + 1) * plane(), received + plane());
  }

  int dimensions_;
  std::int64_t planes_, rows_, columns_;
  Weights weights_;
  int rank_ = 0, processes_ = 1;
  std::int64_t first_ = 0, count_ = 0;
  cudaStream_t stream_{};
  double *now_{}, *next_{};  // a plane of ghost cells before the own ones and one behind
  double* host_{};           // two planes that are sent, two that came
};

}  // namespace raw
