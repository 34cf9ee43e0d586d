#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/transport/channel/channel_memory.hpp"
#include "src/transport/channel/message_seal.hpp"
#include "src/transport/channel/port.hpp"
#include "src/transport/ucx/backend.hpp"
#include "src/transport/ucx/worker.hpp"

namespace tessera {
namespace {

using ucx::library;

constexpr TransportTraits ucx_traits{.route = Route::ucx,
                                     .name = "ucx",
                                     .within_process = false,
                                     .within_host = true,
                                     .crosses_hosts = true,
                                     .shares_memory = false,
                                     .slot_bytes = 256 * 1024,
                                     .slots_beyond = 2};

/// The invitation to the sender; the receiver's address follows it.
struct Invitation {
  std::int64_t slot_bytes;
  std::uint64_t tag;
  std::int64_t address_bytes;
};

/// UCX's settings: from the environment, and our defaults for the rest.
class Configuration {
 public:
  Configuration() {
    ucx::check(library().config_read(nullptr, nullptr, &config_), "ucp_config_read");
    // Receives are posted ahead, so messages need no rendezvous.
    if (!environment("UCX_RNDV_THRESH"))
      (void)library().config_modify(config_, "RNDV_THRESH", "inf");
  }
  ~Configuration() { library().config_release(config_); }
  Configuration(Configuration const&) = delete;
  Configuration& operator=(Configuration const&) = delete;

  [[nodiscard]] ucp_config_t const* get() const { return config_; }

 private:
  ucp_config_t* config_ = nullptr;
};

/// UCX of this process: the endpoints lead to the processes that channels send to.
class Connections {
 public:
  ~Connections() {
    for (auto const& [process, peer] : peers_) ucx::close(worker_.get(), peer.endpoint);
  }
  Connections() = default;
  Connections(Connections const&) = delete;
  Connections& operator=(Connections const&) = delete;

  [[nodiscard]] ucx::Worker& worker() { return worker_; }

  [[nodiscard]] ucp_ep_h endpoint_to(ProcessId process, std::span<std::byte const> address) {
    auto const [place, is_new] = peers_.try_emplace(process);
    auto& peer = place->second;
    try {
      if (is_new) peer.endpoint = worker_.endpoint_to(address, peer.error);
    } catch (TransportError const&) {
      peers_.erase(place);
      throw;
    }
    return peer.endpoint;
  }

 private:
  struct Peer {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;  ///< pending operations then end with it too, which suffices
  };

  Configuration configuration_;
  ucx::Worker worker_{{.features = UCP_FEATURE_TAG, .settings = configuration_.get()}};
  std::map<ProcessId, Peer> peers_;
};

class UcxTransport;

/// A port and its UCX requests.
struct UcxPort {
  /// One of the two requests; UCX is given its address.
  struct Place {
    UcxPort* port = nullptr;
    std::size_t number = 0;
    std::uint64_t message = 0;     ///< the number of the next one, of every second that there is
    std::span<std::byte> bytes{};  ///< received into
    bool is_under_way = false;
    void* request = nullptr;  ///< good while it is under way
  };

  UcxPort(ChannelEnd const& end, bool sends, std::atomic<std::uint64_t>& rung, bool& is_any_broken)
      : port(end, sends, rung),
        peer(end.peer),
        places{Place{this, 0, 0}, Place{this, 1, 1}},
        is_broken(is_any_broken) {}
  UcxPort(UcxPort const&) = delete;
  UcxPort& operator=(UcxPort const&) = delete;

  Port port;
  ProcessId peer;
  std::uint64_t tag = 0;
  MacKey key;
  ucp_ep_h endpoint = nullptr;  ///< of a port that sends
  std::array<Place, 2> places;
  Refused* refused = nullptr;
  std::string error;
  bool& is_broken;  ///< of the transport

  void fail(ucs_status_t status) {
    fail(text("the connection to process ", peer,
              " is broken (UCX: ", library().status_string(status), ")"));
  }
  void fail(std::string why) {
    error = std::move(why);
    is_broken = true;
  }
  /// A receive has ended well. Who can send to this port without the job's secret has guessed its
  /// tag; nothing that came can be told from a stranger's any more.
  void take(Place& place, std::size_t size_bytes) {
    if (!is_sealed(place.bytes.first(std::min(size_bytes, place.bytes.size())), key,
                   place.message)) {
      refused->add(RefusedKind::message);
      return fail(text("a message that came by UCX is not one that process ", peer,
                       " of this job has signed"));
    }
    place.message += 2;
    port.end_one(place.number);
  }
};

/// Each channel of a receiver has its own tag for matching, and two receives are posted ahead;
/// confirmed sends end once they are matched. UCX starts with the first channel.
///
/// Whoever reaches UCX's port could send to a worker. So tags are secret, which keeps strangers'
/// messages from being matched, and every message carries a code.
class UcxTransport final : public Transport {
 public:
  UcxTransport(JobSecret const& secret, Refused& refused) : secret_(secret), refused_(refused) {}
  ~UcxTransport() override {
    if (connections_ == nullptr) return;
    if (!cancel_receives()) {
      // After a failure UCX may still write to the slots, so their memory is kept.
      for (auto& port : ports_) (void)port.release();
      (void)connections_.release();
    }
  }

  [[nodiscard]] TransportTraits const& traits() const override { return ucx_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    auto const address = connections().worker().address();
    if (sizeof(Invitation) + address.size() > max_invitation_bytes)
      throw TransportError(text("the address that UCX gives has ", address.size(), " bytes"));
    Offer made;
    made.end = private_end(request, request.slot_bytes);
    auto& port = add_port(made.end, false);
    port.tag = secret_.key(KeyPurpose::tag, request.from, request.to).low;
    made.invitation = bytes_from(
        Invitation{request.slot_bytes, port.tag, static_cast<std::int64_t>(address.size())});
    made.invitation.insert(made.invitation.end(), address.begin(), address.end());
    made.answered = [] {};
    begin(port);
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> invitation) override {
    auto const asked = value_from<Invitation>(invitation);
    Acceptance result;
    try {
      auto const address = invitation.subspan(sizeof asked);
      auto* const endpoint = connections().endpoint_to(request.peer, address);
      result.end = private_end(request, asked.slot_bytes);
      auto& port = add_port(result.end, true);
      port.tag = asked.tag;
      port.endpoint = endpoint;
      begin(port);
    } catch (TransportError const& error) {
      result.reason = error.what();
    }
    return result;
  }

  bool progress() override {
    if (connections_ == nullptr) return false;
    auto& worker = connections_->worker();
    bool const posted = post_rung();
    bool const moved = worker.progress();
    if (is_broken_) throw_errors();
    if (!is_sending()) worker.look_for_rest();
    return posted || moved;
  }

  [[nodiscard]] bool has_pending() const override {
    return (connections_ != nullptr && connections_->worker().may_hold_back()) ||
           std::any_of(ports_.begin(), ports_.end(),
                       [](auto const& port) { return port->port.has_pending(); });
  }

 private:
  [[nodiscard]] bool is_sending() const {
    return std::any_of(ports_.begin(), ports_.end(), [](auto const& port) {
      return port->port.sends() && port->port.has_pending();
    });
  }

  Connections& connections() {
    if (connections_ == nullptr) connections_ = std::make_unique<Connections>();
    return *connections_;
  }

  UcxPort& add_port(ChannelEnd& end, bool sends) {
    auto& port = *ports_.emplace_back(std::make_unique<UcxPort>(end, sends, rung_, is_broken_));
    port.key = secret_.key(KeyPurpose::message, end.from, end.to);
    port.refused = &refused_;
    end.doorbell = &port.port;
    end.route = ucx_traits.route;
    return port;
  }
  void begin(UcxPort& port) {
    port.port.ring();  // the receives ahead
    post_rung();
  }

  bool post_rung() {
    auto const rung = rung_.load(std::memory_order_acquire);
    if (rung == heard_) return false;
    heard_ = rung;
    for (auto& port : ports_)
      port->port.post([&](std::span<std::byte> bytes, std::size_t place, bool confirmed) {
        if (port->port.sends())
          send(*port, bytes, port->places[place], confirmed);
        else
          receive(*port, bytes, port->places[place]);
      });
    return true;
  }

  void send(UcxPort& port, std::span<std::byte> bytes, UcxPort::Place& place, bool confirmed) {
    auto params = parameters_for(place);
    params.cb.send = [](void* request, ucs_status_t status, void* of) {
      ended(request, status, *static_cast<UcxPort::Place*>(of));
    };
    connections_->worker().note_send();
    auto const message = sealed(bytes, port.key, place.message);
    place.message += 2;
    auto const call = confirmed ? library().tag_send_sync_nbx : library().tag_send_nbx;
    begun(port, place, call(port.endpoint, message.data(), message.size(), port.tag, &params));
  }

  void receive(UcxPort& port, std::span<std::byte> bytes, UcxPort::Place& place) {
    auto params = parameters_for(place);
    params.cb.recv = [](void* request, ucs_status_t status, ucp_tag_recv_info_t const* info,
                        void* of) {
      received(request, status, info->length, *static_cast<UcxPort::Place*>(of));
    };
    place.bytes = bytes;
    begun(port, place,
          library().tag_recv_nbx(connections_->worker().get(), bytes.data(), bytes.size(), port.tag,
                                 ~std::uint64_t{0}, &params));
  }

  static ucp_request_param_t parameters_for(UcxPort::Place& place) {
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    params.user_data = &place;
    place.is_under_way = true;  // it may end before the call returns
    return params;
  }

  static void begun(UcxPort& port, UcxPort::Place& place, void* request) {
    place.request = request;
    if (!UCS_PTR_IS_ERR(request)) return;
    place.is_under_way = false;
    port.fail(UCS_PTR_STATUS(request));
  }

  // Called by UCX. Errors are stored, and thrown later outside of UCX.
  static void ended(void* request, ucs_status_t status, UcxPort::Place& place) {
    library().request_free(request);
    place.is_under_way = false;
    if (status == UCS_OK)
      place.port->port.end_one(place.number);
    else
      place.port->fail(status);
  }
  static void received(void* request, ucs_status_t status, std::size_t size_bytes,
                       UcxPort::Place& place) {
    if (status != UCS_OK) return ended(request, status, place);
    library().request_free(request);
    place.is_under_way = false;
    place.port->take(place, size_bytes);
  }

  void throw_errors() const {
    for (auto const& port : ports_)
      if (!port->error.empty()) throw ConnectionLost(port->peer, port->error);
  }

  /// True if nothing is under way any more.
  bool cancel_receives() {
    bool sends_are_under_way = false;
    for (auto& port : ports_)
      for (auto& place : port->places) {
        if (!place.is_under_way) continue;
        if (port->port.sends())
          sends_are_under_way = true;
        else
          library().request_cancel(connections_->worker().get(), place.request);
      }
    for (int look = 0; look < 1000 && is_busy(); ++look) (void)connections_->worker().progress();
    return !sends_are_under_way && !is_busy();
  }
  [[nodiscard]] bool is_busy() const {
    return std::any_of(ports_.begin(), ports_.end(), [](auto const& port) {
      return port->places[0].is_under_way || port->places[1].is_under_way;
    });
  }

  JobSecret secret_;
  Refused& refused_;
  std::unique_ptr<Connections> connections_;
  bool is_broken_ = false;
  std::vector<std::unique_ptr<UcxPort>> ports_;
  alignas(64) std::atomic<std::uint64_t> rung_{0};  ///< by any thread
  alignas(64) std::uint64_t heard_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_ucx_transport(Bootstrap& bootstrap, JobSecret const& secret,
                                              Refused& refused) {
  if (bootstrap.process_count() == 1) return nullptr;
  return std::make_unique<UcxTransport>(secret, refused);
}

std::string reason_without_ucx() {
  try {
    (void)library();
    return {};
  } catch (TransportError const& error) {
    return error.what();
  }
}

TransportTraits const* ucx_transport_traits() {
  return &ucx_traits;
}

}  // namespace tessera
