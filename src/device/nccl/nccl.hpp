#pragma once
/// @file
/// GPU communicators by NCCL. The library is loaded when the first communicator is requested, so a
/// program also starts without it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/device/gpu.hpp"

struct CUstream_st;

namespace tessera::cuda {

/// Whose member of a group.
struct NcclPlace {
  int gpu = 0;
  CUstream_st* stream = nullptr;
  std::int64_t rank = 0;
  std::int64_t members = 0;
};

[[nodiscard]] GpuGroupTraits nccl_traits();
/// Throws: DeviceError.
[[nodiscard]] GpuGroupId make_nccl_id(int gpu);
/// `choose`: makes a GPU the calling thread's current one.
[[nodiscard]] std::vector<std::unique_ptr<GpuGroup>> join_nccl(
    GpuGroupId const& id, std::span<NcclPlace const> places,
    std::function<void(int gpu)> const& choose);
/// Uses communicators of the program. Throws: DeviceError if they belong to other ranks or GPUs.
[[nodiscard]] std::vector<std::unique_ptr<GpuGroup>> adopt_nccl(
    std::span<ncclComm* const> communicators, std::span<NcclPlace const> places);

}  // namespace tessera::cuda
