#include "src/device/cuda/check.hpp"

#include <exception>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"

namespace tessera::cuda {
namespace {

std::string_view advice(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "use more GPUs or smaller arrays, or see with nvidia-smi who else takes memory";
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorUnsupportedPtxVersion:
      return "there is no driver, or one that is older than the CUDA that the program was built "
             "with";
    case cudaErrorNoKernelImageForDevice:
      return "build with the GPU's compute capability among CMAKE_CUDA_ARCHITECTURES";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorIllegalInstruction:
    case cudaErrorAssert:
      return "a kernel before it went wrong, and the GPU is lost to this process; "
             "compute-sanitizer "
             "names the kernel";
    case cudaErrorECCUncorrectable:
    case cudaErrorHardwareStackError:
      return "the GPU may be broken: see the system's log";
    case cudaErrorNotSupported:
      return "this GPU, or the way it is shared, cannot do that";
    default:
      return "it may be a failure of earlier work on that GPU";
  }
}

std::string describe(cudaError_t error, std::string_view call, int gpu) {
  return text(call, " on GPU ", gpu, " failed: ", cudaGetErrorName(error), " (",
              cudaGetErrorString(error), "); ", advice(error));
}

}  // namespace

void check(cudaError_t error, std::string_view call, int gpu) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // otherwise the next launch on this thread would return it again
  throw DeviceError(describe(error, call, gpu));
}

void report(cudaError_t error, std::string_view call, int gpu) noexcept {
  if (error == cudaSuccess || error == cudaErrorCudartUnloading) return;
  (void)cudaGetLastError();
  try {
    log_error(describe(error, call, gpu));
  } catch (std::exception const&) {
    // There is no memory left even to say so.
  }
}

cudaError_t try_make_current(int gpu) noexcept {
  int current = -1;
  if (cudaGetDevice(&current) == cudaSuccess && current == gpu) return cudaSuccess;
  return cudaSetDevice(gpu);
}

void make_current(int gpu) {
  check(try_make_current(gpu), "cudaSetDevice", gpu);
}

bool is_done(cudaError_t answer, char const* call, int gpu) {
  if (answer == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check(answer, call, gpu);
  return true;
}

}  // namespace tessera::cuda
