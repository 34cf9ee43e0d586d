#include "src/execution/gpu_channels/gpu_route_choice.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/gpu_route_choice");

namespace {

using Choice = GpuRouteChoice;

constexpr GpuPair one_process{true, true, true};
constexpr GpuPair one_host{false, true, true};
constexpr GpuPair one_host_apart{false, true, false};
constexpr GpuPair two_hosts{false, false, false};

}  // namespace

TEST_CASE("every word names a choice of its own, and no word none of them") {
  CHECK(gpu_route_choice(std::nullopt) == Choice::automatic);
  CHECK(to_string(Choice::automatic).empty());
  for (auto const choice : {Choice::host, Choice::ipc, Choice::nccl, Choice::ucx}) {
    CAPTURE(to_string(choice));
    CHECK(gpu_route_choice(std::string(to_string(choice))) == choice);
  }
  CHECK(gpu_route_words().size() == 4);
  CHECK(gpu_route_choice("host") != gpu_route_choice("ipc"));
}

TEST_CASE("only two words ask for a communicator") {
  CHECK(communicator_asked_for(Choice::nccl) == Route::nccl);
  CHECK(communicator_asked_for(Choice::ucx) == Route::ucx_gpu);
  for (auto const choice : {Choice::automatic, Choice::host, Choice::ipc})
    CHECK_FALSE(communicator_asked_for(choice));
}

TEST_CASE("GPUs of one process reach each other whatever is asked for") {
  for (auto const choice :
       {Choice::automatic, Choice::host, Choice::ipc, Choice::nccl, Choice::ucx})
    CHECK(choose_gpu_route(choice, Route::nccl, one_process) == Route::peer);
}

TEST_CASE("without a wish GPUs of a host share memory, and those of two hosts a communicator") {
  CHECK(choose_gpu_route(Choice::automatic, Route::nccl, one_host) == Route::ipc);
  CHECK(choose_gpu_route(Choice::automatic, Route::nccl, two_hosts) == Route::nccl);
  CHECK_FALSE(choose_gpu_route(Choice::automatic, std::nullopt, two_hosts));
}

TEST_CASE("GPUs of a host whose memory is kept apart send through the host") {
  CHECK_FALSE(choose_gpu_route(Choice::automatic, Route::nccl, one_host_apart));
  CHECK_FALSE(choose_gpu_route(Choice::ipc, std::nullopt, one_host_apart));
}

TEST_CASE("a communicator that was asked for serves all processes") {
  CHECK(choose_gpu_route(Choice::nccl, Route::nccl, one_host) == Route::nccl);
  CHECK(choose_gpu_route(Choice::ucx, Route::ucx_gpu, two_hosts) == Route::ucx_gpu);
}

TEST_CASE("who asks for the host gets it between processes") {
  CHECK_FALSE(choose_gpu_route(Choice::host, std::nullopt, one_host));
  CHECK_FALSE(choose_gpu_route(Choice::host, std::nullopt, two_hosts));
}

TEST_SUITE_END();
