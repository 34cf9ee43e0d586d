#include <algorithm>
#include <map>

#include "src/base/text.hpp"
#include "src/job/mpi/bootstrap.hpp"
#include "src/job/mpi/check.hpp"
#include "src/job/mpi/mpi.hpp"
#include "src/transport/channel/channel_memory.hpp"
#include "src/transport/channel/port.hpp"
#include "src/transport/mpi/backend.hpp"

namespace tessera {
namespace {

using mpi::check;

constexpr TransportTraits mpi_traits{.route = Route::mpi,
                                     .name = "mpi",
                                     .within_process = false,
                                     .within_host = true,
                                     .crosses_hosts = true,
                                     .shares_memory = false,
                                     .slot_bytes = 256 * 1024,
                                     .slots_beyond = 2};

struct Invitation {
  std::int64_t slot_bytes;
  int tag;
};

/// A port and where it sends to or receives from.
struct MpiPort {
  Port port;
  int peer;
  int tag;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm world) : communicator_(world) {
    int* bound = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(communicator_, MPI_TAG_UB, &bound, &found), "MPI_Comm_get_attr");
    if (found != 0) last_tag_ = *bound;
  }

  ~MpiTransport() override {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised != 0) return;
    // Cancels the receives that were posted ahead. Only after a failure are there requests that do
    // not end at once; their memory must outlive them, and this must not wait.
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (!has_ended(i)) (void)ports_[i / 2].release();
  }

  [[nodiscard]] TransportTraits const& traits() const override { return mpi_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    Offer made;
    made.end = private_end(request, request.slot_bytes);
    auto const tag = next_tag(request.peer);
    open(made.end, tag, false);
    made.invitation = bytes_from(Invitation{request.slot_bytes, tag});
    made.answered = [] {};
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> invitation) override {
    auto const asked = value_from<Invitation>(invitation);
    Acceptance result{private_end(request, asked.slot_bytes), ""};
    open(result.end, asked.tag, true);
    return result;
  }

  bool progress() override {
    if (ports_.empty()) return false;
    bool const posted = post_rung();
    int count = 0;
    auto const code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                   ended_.data(), statuses_.data());
    check(code == MPI_ERR_IN_STATUS ? first_error(count) : code, "MPI_Testsome");
    if (count == MPI_UNDEFINED || count == 0) return posted;
    for (int i = 0; i < count; ++i) {
      auto const place = static_cast<std::size_t>(ended_[static_cast<std::size_t>(i)]);
      ports_[place / 2]->port.end_one(place % 2);
    }
    return true;
  }

  [[nodiscard]] bool has_pending() const override {
    return std::any_of(ports_.begin(), ports_.end(),
                       [](auto const& port) { return port->port.has_pending(); });
  }

 private:
  bool has_ended(std::size_t place) {
    auto& request = requests_[place];
    if (request == MPI_REQUEST_NULL) return true;
    if (ports_[place / 2] == nullptr || ports_[place / 2]->port.sends()) return false;
    int ended = 0;
    MPI_Cancel(&request);
    MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    return ended != 0;
  }

  /// Tags need only differ between the channels of the same two processes in the same direction.
  int next_tag(ProcessId sender) {
    auto& next = tags_.try_emplace(sender, mpi::MpiBootstrap::first_channel_tag).first->second;
    if (next > last_tag_)
      throw TransportError(text("MPI has no more tags for channels from process ", sender));
    return next++;
  }

  void open(ChannelEnd& end, int tag, bool sends) {
    ports_.push_back(std::unique_ptr<MpiPort>(
        new MpiPort{Port(end, sends, rung_), static_cast<int>(end.peer.value()), tag}));
    end.doorbell = &ports_.back()->port;
    end.route = mpi_traits.route;
    requests_.resize(requests_.size() + 2, MPI_REQUEST_NULL);
    ended_.resize(requests_.size());
    statuses_.resize(requests_.size());
    ports_.back()->port.ring();  // the receives ahead
    post_rung();
  }

  bool post_rung() {
    auto const rung = rung_.load(std::memory_order_acquire);
    if (rung == heard_) return false;
    heard_ = rung;
    for (std::size_t i = 0; i < ports_.size(); ++i)
      ports_[i]->port.post([&](std::span<std::byte> bytes, std::size_t place, bool confirmed) {
        start(*ports_[i], bytes, confirmed, requests_[2 * i + place]);
      });
    return true;
  }

  void start(MpiPort const& port, std::span<std::byte> bytes, bool confirmed,
             MPI_Request& request) const {
    auto const size = static_cast<int>(bytes.size());
    if (!port.port.sends())
      check(MPI_Irecv(bytes.data(), size, MPI_BYTE, port.peer, port.tag, communicator_, &request),
            "MPI_Irecv");
    else
      check((confirmed ? MPI_Issend : MPI_Isend)(bytes.data(), size, MPI_BYTE, port.peer, port.tag,
                                                 communicator_, &request),
            "MPI_Isend");
  }

  [[nodiscard]] int first_error(int count) const {
    for (int i = 0; i < count; ++i) {
      auto const code = statuses_[static_cast<std::size_t>(i)].MPI_ERROR;
      if (code != MPI_SUCCESS && code != MPI_ERR_PENDING) return code;
    }
    return MPI_SUCCESS;
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int last_tag_ = 32767;  // what MPI promises at least
  std::map<ProcessId, int> tags_;
  std::vector<std::unique_ptr<MpiPort>> ports_;
  std::vector<MPI_Request> requests_;  ///< two of each port, in their order
  std::vector<int> ended_;
  std::vector<MPI_Status> statuses_;
  alignas(64) std::atomic<std::uint64_t> rung_{0};  ///< by any thread
  alignas(64) std::uint64_t heard_ = 0;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(Bootstrap& bootstrap) {
  auto const* job = dynamic_cast<mpi::MpiBootstrap*>(&bootstrap);
  if (job == nullptr) return nullptr;
  return std::make_unique<MpiTransport>(job->world());
}

TransportTraits const* mpi_transport_traits() {
  return &mpi_traits;
}

}  // namespace tessera
