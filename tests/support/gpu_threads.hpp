#pragma once
/// @file
/// The threads of a launch on a GPU, one after the other on the host, for random boxes.

#include <cstddef>
#include <cstdint>
#include <random>

#include "tessera/detail/array/gpu/gpu_mapping.hpp"

#include "src/index/index.hpp"

namespace tessera::test {

using detail::GpuShape;
using detail::GpuThread;

inline std::int64_t random_from(std::mt19937& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class Visit>
void for_each_thread(GpuShape const& shape, Visit const& visit) {
  GpuThread thread;
  for (thread.block_y = 0; thread.block_y < shape.blocks_y; ++thread.block_y)
    for (thread.block_x = 0; thread.block_x < shape.blocks_x; ++thread.block_x)
      for (thread.y = 0; thread.y < shape.threads_y; ++thread.y)
        for (thread.x = 0; thread.x < shape.threads_x; ++thread.x) visit(thread);
}

inline GpuShape random_shape(std::mt19937& random) {
  auto const number = [&](std::int64_t most) {
    return static_cast<unsigned>(random_from(random, 1, most));
  };
  return {number(9), number(5), number(4), number(4)};
}

/// A box of cells, with a little memory around each array.
template <std::size_t N>
struct RandomBox {
  explicit RandomBox(std::mt19937& random) {
    for (std::size_t d = 0; d < N; ++d) extents.push_back(random_from(random, 1, N < 3 ? 40 : 7));
    for (std::size_t d = 0; d < N; ++d) first.push_back(random_from(random, -3, 3));
  }
  [[nodiscard]] Index random_strides(std::mt19937& random, bool unit) const {
    Index strides(N, 0);
    auto stride = unit ? 1 : random_from(random, 1, 3);
    for (std::size_t d = N; d-- > 0;) {
      strides[d] = stride;
      stride *= extents[d] + random_from(random, 0, 2);
    }
    return strides;
  }
  [[nodiscard]] std::int64_t rows() const { return cells_of(extents) / extents.back(); }

  Index extents;
  Index first;
};

}  // namespace tessera::test
