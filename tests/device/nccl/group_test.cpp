// What is called of NCCL, and in which order: its functions are replaced by some that note it.
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/nccl/nccl_api.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/nccl");

namespace {

std::vector<std::string> calls;
std::deque<ncclResult_t> states;  // what the communicator answers next; success behind them
ncclResult_t answer_to_send = ncclSuccess;

ncclComm_t const communicator = reinterpret_cast<ncclComm_t>(&calls);

ncclResult_t init_rank(ncclComm_t* made, int members, ncclUniqueId id, int rank,
                       ncclConfig_t* config) {
  *made = communicator;
  calls.push_back(text("init ", rank, " of ", members, ", id ", static_cast<int>(id.internal[0]),
                       config->blocking == 0 ? ", never waits" : ", waits"));
  return ncclInProgress;
}
ncclResult_t get_async_error(ncclComm_t, ncclResult_t* state) {
  *state = ncclSuccess;
  if (states.empty()) return ncclSuccess;
  *state = states.front();
  states.pop_front();
  return ncclSuccess;
}
ncclResult_t abort_it(ncclComm_t) {
  calls.emplace_back("abort");
  return ncclSuccess;
}
ncclResult_t group_start() {
  calls.emplace_back("start");
  return ncclSuccess;
}
ncclResult_t group_end() {
  calls.emplace_back("end");
  return ncclInProgress;
}
ncclResult_t send(void const*, std::size_t count, ncclDataType_t type, int peer, ncclComm_t,
                  cudaStream_t stream) {
  calls.push_back(text("send ", count, type == ncclInt8 ? " bytes" : " others", " to ", peer,
                       stream == nullptr ? " on no stream" : ""));
  return answer_to_send;
}
ncclResult_t receive(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t,
                     cudaStream_t) {
  calls.push_back(text("receive ", count, type == ncclInt8 ? " bytes" : " others", " from ", peer,
                       to == nullptr ? " to nowhere" : ""));
  return ncclSuccess;
}
int known_rank = 1;  // of the communicator, where it is asked

ncclResult_t count(ncclComm_t, int* members) {
  *members = 4;
  return ncclSuccess;
}
ncclResult_t user_rank(ncclComm_t, int* rank) {
  *rank = known_rank;
  return ncclSuccess;
}
ncclResult_t gpu_of(ncclComm_t, int* gpu) {
  *gpu = 0;
  return ncclSuccess;
}
char const* error_string(ncclResult_t) {
  return "a word of NCCL";
}
char const* last_error(ncclComm_t) {
  return "and more";
}
cuda::NcclApi const noting{nullptr,   init_rank,    get_async_error, abort_it, group_start,
                           group_end, send,         receive,         count,    user_rank,
                           gpu_of,    error_string, last_error};

std::unique_ptr<GpuCommunicator> join() {
  calls.clear();
  states.clear();
  answer_to_send = ncclSuccess;
  static int stream = 0;
  GpuCommunicatorId id;
  id.bytes[0] = std::byte{7};
  cuda::NcclMember const place{0, reinterpret_cast<CUstream_st*>(&stream), 1, 4};
  auto groups = cuda::join_nccl(noting, id, {&place, 1},
                                [](int gpu) { calls.push_back(text("choose GPU ", gpu)); });
  return std::move(groups.front());
}

}  // namespace

TEST_CASE("a member joins without a wait, and brings its messages as one group") {
  {
    auto const group = join();
    states = {ncclInProgress, ncclInProgress};
    CHECK_FALSE(group->is_ready());
    CHECK_FALSE(group->is_ready());
    CHECK(group->is_ready());
    std::byte byte{};
    group->begin();
    group->send(0, &byte, 24);
    group->send(2, &byte, std::int64_t{1} << 33);
    group->receive(0, &byte, 8);
    group->end();
    states = {ncclInProgress};
    CHECK_FALSE(group->is_ready());
    CHECK(group->is_ready());
  }
  CHECK(calls == std::vector<std::string>{"start", "choose GPU 0", "init 1 of 4, id 7, never waits",
                                          "end", "start", "send 24 bytes to 0",
                                          "send 8589934592 bytes to 2", "receive 8 bytes from 0",
                                          "end", "abort"});
}

TEST_CASE("failures of NCCL are errors that say which, and what may help") {
  auto const group = join();
  auto const words_of = [&](auto const& call) {
    try {
      call();
    } catch (DeviceError const& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  answer_to_send = ncclInvalidUsage;
  group->begin();
  auto const words = words_of([&] { group->send(3, nullptr, 8); });
  CHECK(words.find("ncclSend of GPU 0: a word of NCCL (and more)") != std::string::npos);
  CHECK(words.find("TESSERA_GPU_ROUTE=host") != std::string::npos);
  CHECK(calls.back() == "end");  // the thread is inside no group any more
  // One of another process, seen only later.
  states = {ncclRemoteError};
  CHECK_THROWS_AS((void)group->is_ready(), DeviceError);
}

TEST_CASE("members of one process join together, each with its GPU") {
  calls.clear();
  std::array<cuda::NcclMember, 2> const places{{{0, nullptr, 2, 4}, {1, nullptr, 3, 4}}};
  auto const groups = cuda::join_nccl(noting, {}, places,
                                      [](int gpu) { calls.push_back(text("choose GPU ", gpu)); });
  CHECK(groups.size() == 2);
  CHECK(calls == std::vector<std::string>{"start", "choose GPU 0", "init 2 of 4, id 0, never waits",
                                          "choose GPU 1", "init 3 of 4, id 0, never waits", "end"});
  answer_to_send = ncclSuccess;
  states = {ncclInProgress};
  CHECK_FALSE(groups[0]->is_ready());
}

TEST_CASE("a member that was abandoned is aborted once, and calls nothing any more") {
  {
    auto const group = join();
    group->abandon();
    group->abandon();
    CHECK_THROWS_AS((void)group->is_ready(), DeviceError);
    CHECK_THROWS_AS(group->begin(), DeviceError);
  }
  CHECK(calls == std::vector<std::string>{"start", "choose GPU 0", "init 1 of 4, id 7, never waits",
                                          "end", "abort"});
}

TEST_CASE("communicators of the program's are used as they are, and left to it") {
  calls.clear();
  states.clear();
  answer_to_send = ncclSuccess;
  cuda::NcclMember const place{0, nullptr, 1, 4};
  auto const adopt = [&](ncclComm_t given) {
    return std::move(cuda::adopt_nccl(noting, {&given, 1}, {&place, 1}).front());
  };
  SUBCASE("with its place") {
    auto const group = adopt(communicator);
    CHECK(group->is_ready());
    std::byte byte{};
    group->begin();
    group->send(0, &byte, 24);
    group->end();
    group->abandon();
    CHECK_THROWS_AS(group->begin(), DeviceError);
    CHECK(calls == std::vector<std::string>{"start", "send 24 bytes to 0 on no stream", "end"});
  }
  SUBCASE("with another one") {
    known_rank = 2;
    CHECK_THROWS_WITH_AS((void)adopt(communicator),
                         "the one of device 1 has member 2 of 4 on GPU 0, where member 1 of 4 on "
                         "GPU 0 is needed",
                         DeviceError);
    known_rank = 1;
  }
  SUBCASE("none") {
    CHECK_THROWS_AS((void)adopt(nullptr), DeviceError);
  }
}

TEST_CASE("NCCL is found, or it is said why not") {
  auto const traits = cuda::nccl_traits();
  CHECK(traits.exists == traits.reason.empty());
  CHECK(traits.spans_hosts);
  CHECK_FALSE(traits.shares_gpus);
  if (!traits.exists) MESSAGE("skipped: ", traits.reason);
}

TEST_SUITE_END();
