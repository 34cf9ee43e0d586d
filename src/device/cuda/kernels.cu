#include <algorithm>

#include "src/device/cuda/kernels.hpp"

namespace tessera::cuda {
namespace {

constexpr unsigned threads = 256;
// Loads per thread before its first store, so that it waits for memory only once.
constexpr int moves_in_flight = 4;
constexpr std::int64_t blocks_per_multiprocessor = 16;

// Enough blocks to fill the GPU; each goes on in strides of the grid.
unsigned blocks_for(std::int64_t items, LaunchTarget const& place) {
  auto const wanted = (items + threads - 1) / threads;
  auto const most = place.multiprocessors * blocks_per_multiprocessor;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
}

// Neighbouring threads move neighbouring words.
template <class Word, class Number>
__global__ void __launch_bounds__(threads) move_words(__grid_constant__ GpuMoves const moves) {
  auto const stride = static_cast<Number>(gridDim.x) * threads;
  auto const count = static_cast<Number>(moves.count);
  auto const first = static_cast<Number>(moves.first);
  for (Number start = static_cast<Number>(blockIdx.x) * threads + threadIdx.x; start < count;
       start += stride * moves_in_flight) {
    Word words[moves_in_flight];
    std::byte* targets[moves_in_flight];
#pragma unroll
    for (int i = 0; i < moves_in_flight; ++i) {
      auto const at = start + static_cast<Number>(i) * stride;
      if (at >= count) continue;
      auto const offsets = offsets_of<Number>(moves, first + at);
      words[i] = *reinterpret_cast<Word const*>(moves.from + offsets.from);
      targets[i] = moves.to + offsets.to;
    }
#pragma unroll
    for (int i = 0; i < moves_in_flight; ++i) {
      if (start + static_cast<Number>(i) * stride >= count) continue;
      *reinterpret_cast<Word*>(targets[i]) = words[i];
    }
  }
}

__global__ void __launch_bounds__(threads)
    fill_words(std::uint64_t* to, std::uint64_t pattern, std::int64_t count) {
  auto const stride = static_cast<std::int64_t>(gridDim.x) * threads;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
       i += stride)
    to[i] = pattern;
}

template <class Kernel, class... Arguments>
cudaError_t launch(Kernel* kernel, std::int64_t items, LaunchTarget const& place,
                   Arguments... arguments) {
  void* all[] = {&arguments...};
  return cudaLaunchKernel(reinterpret_cast<void const*>(kernel), dim3(blocks_for(items, place)),
                          dim3(threads), all, 0, place.stream);
}

template <class Word>
cudaError_t launch_words(GpuMoves const& moves, LaunchTarget const& place) {
  // Strides of the grid must not overflow: 2^31 leaves them the same amount again.
  constexpr auto small = std::int64_t{1} << 31;
  auto const threads_needed = (moves.count + moves_in_flight - 1) / moves_in_flight;
  if (moves.first + moves.count < small)
    return launch(&move_words<Word, std::uint32_t>, threads_needed, place, moves);
  return launch(&move_words<Word, std::uint64_t>, threads_needed, place, moves);
}

template <class Kernel>
cudaError_t load(Kernel* kernel) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, reinterpret_cast<void const*>(kernel));
}

template <class Word>
cudaError_t load_words() {
  auto const error = load(&move_words<Word, std::uint32_t>);
  return error != cudaSuccess ? error : load(&move_words<Word, std::uint64_t>);
}

}  // namespace

cudaError_t load_kernels() {
  for (auto const error :
       {load_words<uint4>(), load_words<std::uint64_t>(), load_words<std::uint32_t>(),
        load_words<std::uint16_t>(), load_words<std::uint8_t>(), load(&fill_words)})
    if (error != cudaSuccess) return error;
  return cudaSuccess;
}

cudaError_t launch_moves(GpuMoves const& moves, LaunchTarget const& place) {
  if (moves.count <= 0) return cudaSuccess;
  switch (moves.move_bytes) {
    case 16:
      return launch_words<uint4>(moves, place);
    case 8:
      return launch_words<std::uint64_t>(moves, place);
    case 4:
      return launch_words<std::uint32_t>(moves, place);
    case 2:
      return launch_words<std::uint16_t>(moves, place);
    default:
      return launch_words<std::uint8_t>(moves, place);
  }
}

cudaError_t launch_fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes,
                        LaunchTarget const& place) {
  if (size_bytes <= 0) return cudaSuccess;
  return launch(&fill_words, size_bytes / 8, place, reinterpret_cast<std::uint64_t*>(to), pattern,
                size_bytes / 8);
}

}  // namespace tessera::cuda
