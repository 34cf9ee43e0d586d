#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"
#include "tessera/transport/ucx_group.hpp"

#include "worker.hpp"

namespace tessera {
namespace {

using ucx::library;

ucs_memory_type_t memory_of(GpuStream const& stream) {
  return stream.native() != nullptr ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
}

// A message has its sender's number for a tag, and those of one sender come in their order.
class Group final : public UcxGroup {
 public:
  Group(std::shared_ptr<GpuStream> stream, std::int64_t rank)
      : stream_(std::move(stream)), reached_(stream_->make_event()), rank_(rank) {}
  ~Group() override { Group::abandon(); }

  std::vector<std::byte> address() const override { return worker_->address(); }
  void connect(std::int64_t rank, std::span<std::byte const> address) override {
    stream_->peers().make_current();
    auto& peer = peers_[rank];
    peer.endpoint = worker_->endpoint_to(address, peer.error);
  }

  void begin() override {
    TESSERA_ASSERT(state_ == State::idle, "messages of the group are still under way");
    transfers_.clear();
  }
  void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) override {
    transfers_.push_back({rank, true, stream_->peers().address_for_others(from), size_bytes});
  }
  void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) override {
    transfers_.push_back({rank, false, stream_->peers().address_for_others(to), size_bytes});
  }
  void end() override {
    stream_->record(*reached_);
    state_ = State::brought;
  }

  bool is_ready() override {
    if (worker_ == nullptr) throw DeviceError(text("device ", rank_, " has left its group"));
    if (state_ == State::idle) return true;
    stream_->peers().make_current();  // UCX asks CUDA for it
    if (state_ == State::brought) {
      if (!planted("gpu_ucx_sends_before_packed") && !reached_->has_passed()) return false;
      post();
    }
    (void)worker_->progress();
    throw_errors();
    std::erase_if(requests_, has_ended);
    if (!requests_.empty()) return false;
    // The others wait for the ends of what they sent, which must have left this process.
    worker_->look_for_rest();
    if (worker_->may_hold_back()) return false;
    state_ = State::idle;
    return true;
  }

  void abandon() noexcept override {
    if (worker_ == nullptr) return;
    for (auto const& request : requests_)
      if (!request.is_send) library().request_cancel(worker_->get(), request.handle);
    for (auto const& [rank, peer] : peers_) ucx::close(worker_->get(), peer.endpoint);
    for (int look = 0; look < 1000 && !requests_.empty(); ++look) {
      (void)worker_->progress();
      std::erase_if(requests_, has_ended);
    }
    // What does not end may still be written to: then so does the worker not.
    if (!requests_.empty()) (void)worker_.release();
    worker_.reset();
  }

 private:
  enum class State { idle, brought, under_way };
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;
  };
  struct Transfer {
    std::int64_t rank = 0;
    bool is_send = false;
    std::byte* bytes = nullptr;
    std::int64_t size_bytes = 0;
  };
  struct Request {
    void* handle = nullptr;
    std::int64_t rank = 0;
    bool is_send = false;
  };

  // Receives go first, so that nothing comes unawaited that need not.
  void post() {
    state_ = State::under_way;
    worker_->note_send();
    for (bool const sends : {false, true})
      for (auto const& transfer : transfers_)
        if (transfer.is_send == sends) begin(transfer);
  }
  void begin(Transfer const& transfer) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    params.memory_type = memory_of(*stream_);
    auto const size = static_cast<std::size_t>(transfer.size_bytes);
    void* handle = nullptr;
    if (transfer.is_send) {
      auto const tag = static_cast<std::uint64_t>(rank_);
      auto* const endpoint = peers_.at(transfer.rank).endpoint;
      handle = library().tag_send_sync_nbx(endpoint, transfer.bytes, size, tag, &params);
    } else {
      auto const tag = static_cast<std::uint64_t>(transfer.rank);
      handle = library().tag_recv_nbx(worker_->get(), transfer.bytes, size, tag, ~std::uint64_t{0},
                                      &params);
    }
    if (UCS_PTR_IS_ERR(handle)) fail(transfer.rank, UCS_PTR_STATUS(handle));
    if (handle != nullptr) requests_.push_back({handle, transfer.rank, transfer.is_send});
  }

  void throw_errors() {
    for (auto const& [rank, peer] : peers_)
      if (peer.error != UCS_OK) fail(rank, peer.error);
    for (auto const& request : requests_) {
      auto const status = library().request_check_status(request.handle);
      if (status != UCS_OK && status != UCS_INPROGRESS) fail(request.rank, status);
    }
  }
  [[noreturn]] void fail(std::int64_t rank, ucs_status_t status) const {
    throw PeerFailed(text("the messages of device ", rank_, " to and from device ", rank,
                          " have ended (UCX: ", library().status_string(status), ")"));
  }
  static bool has_ended(Request const& request) {
    if (library().request_check_status(request.handle) == UCS_INPROGRESS) return false;
    library().request_free(request.handle);
    return true;
  }

  std::shared_ptr<GpuStream> stream_;
  std::unique_ptr<GpuEvent> reached_;  // behind the work before the last end
  std::int64_t rank_;
  std::unique_ptr<ucx::Worker> worker_ = std::make_unique<ucx::Worker>(
      ucx::WorkerOptions{.features = UCP_FEATURE_TAG, .threads = UCS_THREAD_MODE_SERIALIZED});
  std::map<std::int64_t, Peer> peers_;  // that it sends to
  State state_ = State::idle;
  std::vector<Transfer> transfers_;
  std::vector<Request> requests_;
};

}  // namespace

GpuGroupTraits ucx_group_traits(GpuStream& stream) {
  GpuGroupTraits traits{.shares_gpus = true, .spans_hosts = true};
  try {
    stream.peers().make_current();
    ucx::Worker const worker({.features = UCP_FEATURE_TAG});
    traits.exists = (worker.memory_kinds() >> memory_of(stream) & 1U) != 0;
    if (!traits.exists) traits.why_not = "this UCX was built without CUDA";
  } catch (TransportError const& error) {
    traits.why_not = error.what();
  }
  return traits;
}

std::unique_ptr<UcxGroup> make_ucx_group(std::shared_ptr<GpuStream> stream, std::int64_t rank) {
  return std::make_unique<Group>(std::move(stream), rank);
}

}  // namespace tessera
