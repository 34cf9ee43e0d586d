#include <chrono>
#include <map>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/transport/rpc/address_server.hpp"
#include "src/transport/rpc/call_seal.hpp"
#include "src/transport/rpc/pending_calls.hpp"
#include "src/transport/rpc/served_calls.hpp"
#include "src/transport/rpc/ucx/am_worker.hpp"
#include "src/transport/rpc/ucx/server.hpp"

namespace tessera {
namespace {

using ucx::library;

/// The caller's thread sends requests by its own worker, which also receives the answers. The first
/// call to a process makes an endpoint.
class UcxCalls final : public ServedCalls {
 public:
  UcxCalls(ServedCallTools const& tools, Serve serve)
      : tools_(tools),
        server_(tools, std::move(serve)),
        worker_([this](auto bytes, ucp_ep_h) { take_answer(bytes); }) {}
  ~UcxCalls() override {
    for (auto& [process, peer] : peers_) ucx::close(worker_.get(), peer->endpoint);
  }

  [[nodiscard]] std::int64_t most_bytes() const override { return ucx::Server::most_bytes; }
  [[nodiscard]] std::int64_t address() const override { return server_.address(); }
  void set_addresses(std::span<std::int64_t const> addresses) override { addresses_ = addresses; }

  void begin(Call& call) override {
    slots_.add(call);
    signer_.sign(call);
    try {
      auto const& peer = peer_of(call.to);
      ucp_request_param_t params{};
      params.op_attr_mask =
          UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
      params.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
      params.user_data = &call;
      params.cb.send = [](void* request, ucs_status_t status, void* of) {
        library().request_free(request);
        sent(*static_cast<Call*>(of), status);
      };
      auto* const request =
          library().am_send_nbx(peer.endpoint, ucx::AmWorker::message_id, nullptr, 0,
                                call.request.data(), call.request.size(), &params);
      if (request == nullptr) sent(call, UCS_OK);
      if (UCS_PTR_IS_ERR(request)) sent(call, UCS_PTR_STATUS(request));
    } catch (TransportError const& error) {
      call.reason = error.what();
      call.is_sent = true;
    }
    if (!call.reason.empty()) slots_.fail(call.to, call.reason);
  }

  bool progress() override {
    has_moved_ = false;
    while (worker_.progress()) {
    }
    for (auto& [process, peer] : peers_)
      if (peer->error != UCS_OK)
        slots_.fail(process, text("the connection to process ", process,
                                  " is broken (UCX: ", library().status_string(peer->error), ")"));
    return has_moved_;
  }

 private:
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;
  };

  void take_answer(std::span<std::byte const> bytes) {
    auto* const call = slots_.find(bytes);
    if (call == nullptr) return;  // of a call that was given up
    if (!signer_.is_answer(*call, bytes)) return tools_.refused.add(RefusedKind::answer);
    (void)slots_.answer(bytes);
    has_moved_ = true;
  }

  static void sent(Call& call, ucs_status_t status) {
    call.is_sent = true;
    if (status == UCS_OK) return;
    call.reason = text("a request to process ", call.to,
                       " could not be sent (UCX: ", library().status_string(status), ")");
    call.is_answered = true;  // nothing comes
  }

  Peer const& peer_of(ProcessId process) {
    auto const found = peers_.find(process);
    if (found != peers_.end()) return *found->second;
    auto const where = addresses_[static_cast<std::size_t>(process.value())];
    auto const address = ucx::ask_for_address({where, process, tools_.self, tools_.secret});
    auto made = std::make_unique<Peer>();
    made->endpoint = worker_.endpoint_to(address, made->error);
    return *peers_.emplace(process, std::move(made)).first->second;
  }

  ServedCallTools tools_;
  RequestSigner signer_{tools_.secret, tools_.self};
  ucx::Server server_;
  // Operations that the worker completes during its destruction refer to these.
  CallSlots slots_;
  std::map<ProcessId, std::unique_ptr<Peer>> peers_;
  ucx::AmWorker worker_;
  std::span<std::int64_t const> addresses_;
  bool has_moved_ = false;
};

}  // namespace

std::unique_ptr<ServedCalls> make_ucx_calls(ServedCallTools const& tools, Serve serve) {
  return std::make_unique<UcxCalls>(tools, std::move(serve));
}

}  // namespace tessera
