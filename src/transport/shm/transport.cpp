#include "src/job/ipc/shared_segment.hpp"
#include "src/transport/channel/channel_memory.hpp"
#include "src/transport/shm/backend.hpp"

namespace tessera {
namespace {

constexpr TransportTraits shm_traits{.route = Route::shm,
                                     .name = "shm",
                                     .within_process = false,
                                     .within_host = true,
                                     .crosses_hosts = false,
                                     .shares_memory = true,
                                     .slot_bytes = 256 * 1024,
                                     .slots_beyond = 0};

constexpr std::int64_t beyond_any_slot = std::int64_t{1} << 40;

struct Invitation {
  SegmentTicket ticket;
  std::int64_t slot_bytes;
};

ChannelEnd end_in(std::shared_ptr<Segment> const& segment, OfferRequest const& request,
                  std::int64_t slot_bytes) {
  ChannelEnd end;
  end.from = request.from;
  end.to = request.to;
  end.peer = request.peer;
  end.route = shm_traits.route;
  place_channel(end, segment->data(), slot_bytes);
  end.keeps = segment;
  return end;
}

/// The receiver's process makes the memory, the sender's maps it.
class ShmTransport final : public Transport {
 public:
  explicit ShmTransport(DescriptorServer const& descriptor_server)
      : descriptor_server_(descriptor_server) {}

  [[nodiscard]] TransportTraits const& traits() const override { return shm_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    auto const segment =
        std::make_shared<Segment>(Segment::make(channel_bytes(request.slot_bytes)));
    segment->set_descriptor_server(descriptor_server_.number());
    Offer made;
    made.end = end_in(segment, request, request.slot_bytes);
    start_channel(made.end);
    made.invitation = bytes_from(Invitation{segment->ticket(), request.slot_bytes});
    made.answered = [segment] { segment->close_descriptor(); };
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> invitation) override {
    auto const asked = value_from<Invitation>(invitation);
    Acceptance result;
    bool const is_size = asked.slot_bytes > 0 && asked.slot_bytes < beyond_any_slot;
    if (!is_size || asked.ticket.size_bytes != channel_bytes(asked.slot_bytes)) {
      result.reason = "the invitation is invalid";
      return result;
    }
    std::string reason;  // of what was tried, also where something else worked
    auto const segment = std::make_shared<Segment>(Segment::map(
        asked.ticket, Segment::MapMode::read_write, reason, descriptor_server_.ways()));
    if (*segment)
      result.end = end_in(segment, request, asked.slot_bytes);
    else
      result.reason = reason;
    return result;
  }

 private:
  DescriptorServer const& descriptor_server_;
};

}  // namespace

TransportTraits const* shm_transport_traits() {
  return &shm_traits;
}

std::unique_ptr<Transport> make_shm_transport(DescriptorServer const& descriptor_server) {
  return std::make_unique<ShmTransport>(descriptor_server);
}

}  // namespace tessera
