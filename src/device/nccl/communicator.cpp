#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/nccl/nccl.hpp"
#include "src/device/nccl/nccl_api.hpp"

namespace tessera::cuda {
namespace {

static_assert(sizeof(ncclUniqueId) <= sizeof(GpuCommunicatorId));

[[noreturn]] void fail(NcclApi const& api, ncclComm_t communicator, ncclResult_t result,
                       char const* call, int gpu) {
  std::string more;
  if (communicator != nullptr)
    if (auto const* const last = api.last_error(communicator); last != nullptr && *last != '\0')
      more = text(" (", last, ')');
  throw DeviceError(text(call, " of GPU ", gpu, ": ", api.error_string(result), more,
                         "; NCCL_DEBUG=INFO says more, and TESSERA_GPU_ROUTE=host does without "
                         "NCCL"));
}

void check_call(NcclApi const& api, ncclComm_t communicator, ncclResult_t result, char const* call,
                int gpu) {
  // With nonblocking calls, "in progress" is no failure.
  if (result != ncclSuccess && result != ncclInProgress) fail(api, communicator, result, call, gpu);
}

// A communicator with nonblocking calls, so that only the library's own waits occur, which always
// end. Whether communicators of the caller are nonblocking cannot be checked.
class NcclGroup : public GpuCommunicator {
 public:
  NcclGroup(NcclApi const& api, NcclMember const& place, ncclUniqueId const& id)
      : api_(api), place_(place) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(api_.init_rank(&communicator_, static_cast<int>(place.members), id,
                         static_cast<int>(place.rank), &config),
          "ncclCommInitRankConfig");
  }
  NcclGroup(NcclApi const& api, NcclMember const& place, ncclComm_t given)
      : api_(api), place_(place), communicator_(given), is_own_(false) {
    if (given == nullptr) throw DeviceError(text("the one of device ", place.rank, " is null"));
    if (!is_ready())
      throw DeviceError(
          text("the one of device ", place.rank,
               " is still joining; wait until ncclCommGetAsyncError says ncclSuccess"));
    int members = 0;
    int rank = 0;
    int gpu = 0;
    check(api_.get_count(given, &members), "ncclCommCount");
    check(api_.get_rank(given, &rank), "ncclCommUserRank");
    check(api_.get_gpu(given, &gpu), "ncclCommCuDevice");
    if (members != place.members || rank != place.rank || gpu != place.gpu)
      throw DeviceError(text("the one of device ", place.rank, " has member ", rank, " of ",
                             members, " on GPU ", gpu, ", where member ", place.rank, " of ",
                             place.members, " on GPU ", place.gpu, " is needed"));
  }
  ~NcclGroup() override { NcclGroup::abandon(); }

  bool is_ready() override {
    check_living();
    auto state = ncclSuccess;
    check(api_.get_async_error(communicator_, &state), "ncclCommGetAsyncError");
    check(state, "NCCL");
    return state == ncclSuccess;
  }
  void begin() override {
    check_living();
    check(api_.group_start(), "ncclGroupStart");
    is_open_ = true;
  }
  void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) override {
    check(api_.send(from, static_cast<std::size_t>(size_bytes), ncclInt8, static_cast<int>(rank),
                    communicator_, place_.stream),
          "ncclSend");
  }
  void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) override {
    check(api_.receive(to, static_cast<std::size_t>(size_bytes), ncclInt8, static_cast<int>(rank),
                       communicator_, place_.stream),
          "ncclRecv");
  }
  void end() override {
    is_open_ = false;
    check(api_.group_end(), "ncclGroupEnd");
  }

  void abandon() noexcept override {
    if (communicator_ == nullptr) return;
    if (std::exchange(is_open_, false)) (void)api_.group_end();
    auto* const communicator = std::exchange(communicator_, nullptr);
    if (!is_own_) return;  // it ends with the program, which a failure ends too
    auto const result = api_.abort(communicator);
    if (result != ncclSuccess && result != ncclInProgress)
      log_error(text("ncclCommAbort of GPU ", place_.gpu, ": ", api_.error_string(result)));
  }

 private:
  void check(ncclResult_t result, char const* call) {
    bool const is_well = result == ncclSuccess || result == ncclInProgress;
    // Closes the failed group of calls, so that the thread's next calls are not part of it.
    if (!is_well && std::exchange(is_open_, false)) (void)api_.group_end();
    check_call(api_, communicator_, result, call, place_.gpu);
  }
  void check_living() const {
    if (communicator_ == nullptr)
      throw DeviceError(text("GPU ", place_.gpu, " has left its communicator"));
  }

  NcclApi const& api_;
  NcclMember place_;
  ncclComm_t communicator_ = nullptr;
  bool is_own_ = true;
  bool is_open_ = false;  // between begin and end
};

template <class Function>
bool find(void* library, char const* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_all(void* library, NcclApi& api) {
  return find(library, "ncclGetUniqueId", api.get_unique_id) &&
         find(library, "ncclCommInitRankConfig", api.init_rank) &&
         find(library, "ncclCommGetAsyncError", api.get_async_error) &&
         find(library, "ncclCommAbort", api.abort) &&
         find(library, "ncclGroupStart", api.group_start) &&
         find(library, "ncclGroupEnd", api.group_end) && find(library, "ncclSend", api.send) &&
         find(library, "ncclRecv", api.receive) && find(library, "ncclCommCount", api.get_count) &&
         find(library, "ncclCommUserRank", api.get_rank) &&
         find(library, "ncclCommCuDevice", api.get_gpu) &&
         find(library, "ncclGetErrorString", api.error_string) &&
         find(library, "ncclGetLastError", api.last_error);
}

LoadedNccl load() {
  static NcclApi api;
  // This variable overrides the configuration of communicators, and their calls could then wait for
  // ever.
  if (environment("NCCL_COMM_BLOCKING").value_or("0") != "0")
    return {nullptr, "NCCL_COMM_BLOCKING is set, which makes its calls block"};
  for (auto const* const name : {"libnccl.so.2", "libnccl.so"}) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (find_all(library, api)) return {&api, ""};
    return {nullptr, text(name, " is too old: NCCL 2.14 or later is needed")};
  }
  return {nullptr, "libnccl.so.2 is not found"};
}

}  // namespace

LoadedNccl const& load_nccl() {
  static LoadedNccl const loaded = load();
  return loaded;
}

// One thread joins several members: all calls form one NCCL group, since NCCL may refuse a second
// join while the first is in progress.
std::vector<std::unique_ptr<GpuCommunicator>> join_nccl(
    NcclApi const& api, GpuCommunicatorId const& id, std::span<NcclMember const> places,
    std::function<void(int gpu)> const& choose) {
  ncclUniqueId native;
  std::memcpy(&native, id.bytes.data(), sizeof native);
  std::vector<std::unique_ptr<GpuCommunicator>> groups;
  auto const gpu = places.front().gpu;
  check_call(api, nullptr, api.group_start(), "ncclGroupStart", gpu);
  try {
    for (auto const& place : places) {
      choose(place.gpu);
      groups.push_back(std::make_unique<NcclGroup>(api, place, native));
    }
  } catch (DeviceError const&) {
    (void)api.group_end();
    throw;
  }
  check_call(api, nullptr, api.group_end(), "ncclGroupEnd", gpu);
  return groups;
}

std::vector<std::unique_ptr<GpuCommunicator>> adopt_nccl(NcclApi const& api,
                                                         std::span<ncclComm_t const> communicators,
                                                         std::span<NcclMember const> places) {
  std::vector<std::unique_ptr<GpuCommunicator>> groups;
  for (std::size_t i = 0; i < places.size(); ++i)
    groups.push_back(std::make_unique<NcclGroup>(api, places[i], communicators[i]));
  return groups;
}

GpuCommunicatorTraits nccl_traits() {
  auto const& loaded = load_nccl();
  return {loaded.api != nullptr, false, true, loaded.reason};
}

GpuCommunicatorId make_nccl_id(int gpu) {
  auto const& api = *load_nccl().api;
  ncclUniqueId native;
  check_call(api, nullptr, api.get_unique_id(&native), "ncclGetUniqueId", gpu);
  GpuCommunicatorId id;
  std::memcpy(id.bytes.data(), &native, sizeof native);
  return id;
}

std::vector<std::unique_ptr<GpuCommunicator>> join_nccl(
    GpuCommunicatorId const& id, std::span<NcclMember const> places,
    std::function<void(int gpu)> const& choose) {
  return join_nccl(*load_nccl().api, id, places, choose);
}

std::vector<std::unique_ptr<GpuCommunicator>> adopt_nccl(std::span<ncclComm* const> communicators,
                                                         std::span<NcclMember const> places) {
  auto const& loaded = load_nccl();
  if (loaded.api == nullptr) throw DeviceError(loaded.reason);
  return adopt_nccl(*loaded.api, communicators, places);
}

}  // namespace tessera::cuda
