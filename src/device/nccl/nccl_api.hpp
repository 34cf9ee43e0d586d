#pragma once
/// @file
/// The NCCL functions that GPU communicators call, so that tests can replace them.

#include <memory>
#include <string>

#include <nccl.h>

#include "src/device/nccl/nccl.hpp"

namespace tessera::cuda {

/// As NCCL names them; all are there or none.
struct NcclApi {
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init_rank = nullptr;
  decltype(&ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;
  decltype(&ncclCommCount) get_count = nullptr;
  decltype(&ncclCommUserRank) get_rank = nullptr;
  decltype(&ncclCommCuDevice) get_gpu = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
};

/// NCCL's own functions; null, with the reason, if the library is not found.
struct LoadedNccl {
  NcclApi const* api = nullptr;
  std::string reason;
};
[[nodiscard]] LoadedNccl const& load_nccl();

/// Throws: DeviceError.
[[nodiscard]] std::vector<std::unique_ptr<GpuCommunicator>> join_nccl(
    NcclApi const& api, GpuCommunicatorId const& id, std::span<NcclMember const> places,
    std::function<void(int gpu)> const& choose);
[[nodiscard]] std::vector<std::unique_ptr<GpuCommunicator>> adopt_nccl(
    NcclApi const& api, std::span<ncclComm_t const> communicators,
    std::span<NcclMember const> places);

}  // namespace tessera::cuda
