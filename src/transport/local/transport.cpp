#include <map>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/transport/channel/channel_memory.hpp"
#include "src/transport/local/backend.hpp"

namespace tessera {
namespace {

constexpr TransportTraits local_traits{.route = Route::local,
                                       .name = "local",
                                       .within_process = true,
                                       .within_host = false,
                                       .crosses_hosts = false,
                                       .shares_memory = true,
                                       .slot_bytes = 256 * 1024,
                                       .slots_beyond = 0};

/// Both ends are in this process and use the same private memory.
class LocalTransport final : public Transport {
 public:
  [[nodiscard]] TransportTraits const& traits() const override { return local_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    Offer made;
    made.end = private_end(request, request.slot_bytes);
    made.end.route = local_traits.route;
    offered_[{request.from, request.to}] = made.end;
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> /*invitation*/) override {
    auto const found = offered_.extract({request.from, request.to});
    TESSERA_ASSERT(!found.empty(), request.from, " -> ", request.to);
    return {found.mapped(), ""};
  }

 private:
  std::map<std::pair<DeviceId, DeviceId>, ChannelEnd> offered_;
};

}  // namespace

TransportTraits const* local_transport_traits() {
  return &local_traits;
}

std::unique_ptr<Transport> make_local_transport() {
  return std::make_unique<LocalTransport>();
}

}  // namespace tessera
