#pragma once
/// @file
/// GPU communicators by NCCL. The library is loaded when the first communicator is requested, so a
/// program also starts without it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/device/communicator.hpp"

struct CUstream_st;
struct ncclComm;

namespace tessera::cuda {

/// The place of one member in a communicator.
struct NcclMember {
  int gpu = 0;
  CUstream_st* stream = nullptr;
  std::int64_t rank = 0;
  std::int64_t members = 0;
};

[[nodiscard]] GpuCommunicatorTraits nccl_traits();
/// Throws: DeviceError.
[[nodiscard]] GpuCommunicatorId make_nccl_id(int gpu);
/// `choose`: makes a GPU the calling thread's current one.
[[nodiscard]] std::vector<std::unique_ptr<GpuCommunicator>> join_nccl(
    GpuCommunicatorId const& id, std::span<NcclMember const> places,
    std::function<void(int gpu)> const& choose);
/// Uses communicators of the program. Throws: DeviceError if they belong to other ranks or GPUs.
[[nodiscard]] std::vector<std::unique_ptr<GpuCommunicator>> adopt_nccl(
    std::span<ncclComm* const> communicators, std::span<NcclMember const> places);

}  // namespace tessera::cuda
