#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/peers.hpp"
#include "src/execution/gpu_channels/ucx_communicator.hpp"
#include "src/transport/ucx/worker.hpp"

namespace tessera {
namespace {

using ucx::library;

constexpr char const* hint = "; TESSERA_GPU_ROUTE=host does without UCX between GPUs";

// After a lost connection, the heartbeats get this time to report the cause.
constexpr std::chrono::seconds patience{3};

ucs_memory_type_t memory_of(GpuPeers const& peers) {
  return peers.library_memory() == MemoryKind::gpu ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
}

// A message on its way. UCX is given its address.
struct Transfer {
  std::int64_t rank = 0;  // of the other end
  bool is_send = false;
  std::byte* bytes = nullptr;
  std::int64_t size_bytes = 0;
  void* request = nullptr;  // good until it has ended
  bool has_ended = true;
  ucs_status_t status = UCS_OK;
  std::int64_t received_bytes = 0;

  // Called by UCX.
  void end(void* of, ucs_status_t how) {
    library().request_free(of);
    has_ended = true;
    status = how;
  }
};

// Messages of one sender arrive in order, so each pair of members has one tag.
class UcxGroup final : public UcxCommunicator {
 public:
  UcxGroup(std::shared_ptr<Queue> stream, std::int64_t rank, JobSecret const& secret)
      : stream_(std::move(stream)),
        gpu_(stream_->peers()),
        reached_(stream_->make_event()),
        rank_(rank),
        secret_(secret) {
    gpu_.make_current();
    worker_ = std::make_unique<ucx::Worker>(
        ucx::WorkerOptions{.features = UCP_FEATURE_TAG, .threads = UCS_THREAD_MODE_SERIALIZED});
  }
  ~UcxGroup() override { UcxGroup::abandon(); }

  std::vector<std::byte> address() const override { return worker_->address(); }

  void connect(std::int64_t rank, std::span<std::byte const> address) override {
    gpu_.make_current();
    auto const [place, is_new] = peers_.try_emplace(rank);
    try {
      if (is_new) place->second.endpoint = worker_->endpoint_to(address, place->second.error);
    } catch (TransportError const& error) {
      peers_.erase(place);
      throw TransportError(
          text("device ", rank_, " cannot send to device ", rank, ": ", error.what(), hint));
    }
  }

  void begin() override {
    TESSERA_ASSERT(state_ == State::idle, "messages of the group are still under way");
    transfers_.clear();
  }
  void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) override {
    transfers_.push_back({rank, true, gpu_.address_for_others(from), size_bytes});
  }
  void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) override {
    transfers_.push_back({rank, false, gpu_.address_for_others(to), size_bytes});
  }
  void end() override {
    stream_->record(*reached_);
    state_ = State::brought;
  }

  bool is_ready() override {
    if (worker_ == nullptr) throw DeviceError(text("device ", rank_, " has left its communicator"));
    if (state_ == State::idle) return true;
    gpu_.make_current();  // UCX queries CUDA's current GPU
    if (state_ == State::brought) {
      if (!reached_->has_passed()) return false;
      post();
    }
    (void)worker_->progress();
    if (has_failed_transfers()) return false;
    if (!std::ranges::all_of(transfers_, &Transfer::has_ended)) return false;
    // The others wait for the completion of their sends, so the data of this process must have
    // left.
    worker_->look_for_rest();
    if (worker_->may_hold_back()) return false;
    state_ = State::idle;
    return true;
  }

  void abandon() noexcept override {
    if (worker_ == nullptr) return;
    try {
      gpu_.make_current();
    } catch (DeviceError const& error) {
      log_error(error.what());
    }
    for (auto const& transfer : transfers_)
      if (!transfer.has_ended && !transfer.is_send)
        library().request_cancel(worker_->get(), transfer.request);
    for (auto const& [rank, peer] : peers_) ucx::close(worker_->get(), peer.endpoint);
    auto const have_ended = [&] { return std::ranges::all_of(transfers_, &Transfer::has_ended); };
    for (int look = 0; look < 1000 && !have_ended(); ++look) (void)worker_->progress();
    // Memory of an unfinished operation may still be written: then the worker and its memory are
    // kept.
    if (!have_ended()) {
      (void)worker_.release();
      (void)new std::vector<Transfer>(std::move(transfers_));
    }
    worker_.reset();
  }

 private:
  enum class State { idle, brought, under_way };
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;
  };

  // The peer, and UCX's error.
  struct FailedTransfer {
    std::int64_t rank = 0;
    ucs_status_t status = UCS_OK;
  };

  // Posts receives first, to avoid unexpected messages.
  void post() {
    state_ = State::under_way;
    worker_->note_send();
    for (bool const sends : {false, true})
      for (auto& transfer : transfers_)
        if (transfer.is_send == sends) start(transfer);
  }
  [[nodiscard]] std::uint64_t tag_of(std::int64_t from, std::int64_t to) const {
    return secret_.key(KeyPurpose::tag, DeviceId(from), DeviceId(to)).low;
  }
  void start(Transfer& transfer) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                          UCP_OP_ATTR_FLAG_NO_IMM_CMPL | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    params.user_data = &transfer;
    params.memory_type = memory_of(gpu_);
    auto const size = static_cast<std::size_t>(transfer.size_bytes);
    transfer.has_ended = false;  // it may end before the call returns
    if (transfer.is_send) {
      params.cb.send = [](void* request, ucs_status_t status, void* of) {
        static_cast<Transfer*>(of)->end(request, status);
      };
      transfer.request =
          library().tag_send_sync_nbx(peers_.at(transfer.rank).endpoint, transfer.bytes, size,
                                      tag_of(rank_, transfer.rank), &params);
    } else {
      params.cb.recv = [](void* request, ucs_status_t status, ucp_tag_recv_info_t const* info,
                          void* of) {
        auto& received = *static_cast<Transfer*>(of);
        received.received_bytes = static_cast<std::int64_t>(info->length);
        received.end(request, status);
      };
      transfer.request =
          library().tag_recv_nbx(worker_->get(), transfer.bytes, size, tag_of(transfer.rank, rank_),
                                 ~std::uint64_t{0}, &params);
    }
    if (!UCS_PTR_IS_ERR(transfer.request)) return;
    transfer.has_ended = true;
    transfer.status = UCS_PTR_STATUS(transfer.request);
  }

  // Different lengths are an error at once; a possible loss of connection only after a while.
  bool has_failed_transfers() {
    std::optional<FailedTransfer> failed;
    for (auto const& transfer : transfers_) {
      if (!transfer.has_ended) continue;
      bool const is_short = !transfer.is_send && transfer.status == UCS_OK &&
                            transfer.received_bytes != transfer.size_bytes;
      if (is_short || transfer.status == UCS_ERR_MESSAGE_TRUNCATED)
        throw DeviceError(text("device ", transfer.rank,
                               " sends a message of another length than "
                               "the ",
                               transfer.size_bytes, " bytes that device ", rank_, " receives"));
      if (transfer.status != UCS_OK) failed = {transfer.rank, transfer.status};
    }
    for (auto const& [rank, peer] : peers_)
      if (peer.error != UCS_OK) failed = {rank, peer.error};
    if (!failed) return false;
    auto const now = std::chrono::steady_clock::now();
    if (!failing_since_) failing_since_ = now;
    if (now - *failing_since_ >= patience)
      throw TransportError(
          text("the messages of device ", rank_, " to and from device ", failed->rank,
               " have ended (UCX: ", library().status_string(failed->status), ")", hint));
    return true;
  }

  std::shared_ptr<Queue> stream_;
  GpuPeers& gpu_;
  std::unique_ptr<GpuEvent> reached_;  // behind the work before the last end
  std::int64_t rank_;
  JobSecret secret_;
  std::unique_ptr<ucx::Worker> worker_;
  std::map<std::int64_t, Peer> peers_;  // that it sends to
  State state_ = State::idle;
  std::vector<Transfer> transfers_;  // as it is from `end` until all have ended
  std::optional<std::chrono::steady_clock::time_point> failing_since_;
};

}  // namespace

GpuCommunicatorTraits ucx_communicator_traits(Queue& stream) {
  GpuCommunicatorTraits traits{.shares_gpus = true, .spans_hosts = true};
  try {
    auto& gpu = stream.peers();
    gpu.make_current();
    ucx::Worker const worker({.features = UCP_FEATURE_TAG});
    traits.exists = (worker.memory_kinds() >> memory_of(gpu) & 1U) != 0;
    if (!traits.exists) traits.reason = "it was built without CUDA, or UCX_TLS leaves that out";
  } catch (TransportError const& error) {
    traits.reason = error.what();
  }
  return traits;
}

std::unique_ptr<UcxCommunicator> make_ucx_communicator(std::shared_ptr<Queue> stream,
                                                       std::int64_t rank, JobSecret const& secret) {
  return std::make_unique<UcxGroup>(std::move(stream), rank, secret);
}

}  // namespace tessera
