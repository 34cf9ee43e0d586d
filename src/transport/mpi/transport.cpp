#include "../transport.hpp"

#include <algorithm>
#include <map>

#include "../channel_memory.hpp"
#include "bootstrap.hpp"
#include "check.hpp"
#include "mpi.hpp"

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

/// One end of a channel. Message n uses slot and request n % 2; requests may end out of order, so
/// the counter moves only past those that have all ended.
///
/// The thread that drives the device moves one of the counters of `end.memory` and rings; the
/// caller's thread compares it with what it has posted, and moves the other.
class Port final : public Doorbell {
 public:
  Port(ChannelEnd& end, int tag, bool sends, MPI_Comm communicator,
       std::atomic<std::uint64_t>& rung)
      : memory_(*end.memory),
        slots_(end.slots),
        stride_(end.slot_stride),
        keeps_(end.keeps),
        peer_(static_cast<int>(end.peer.value())),
        tag_(tag),
        sends_(sends),
        communicator_(communicator),
        rung_(rung) {}

  void ring() override { rung_.fetch_add(1, std::memory_order_release); }

  /// True if a message or a free slot has not been given to MPI yet, or a send has not ended.
  [[nodiscard]] bool has_pending() const {
    return posted_ < allowed() || (sends_ && ended_ < posted_);
  }

  /// Gives MPI what has come; `requests` are this port's two.
  void post(std::span<MPI_Request, 2> requests) {
    for (auto const allowed_now = allowed(); posted_ < allowed_now; ++posted_) {
      auto* slot = slots_ + static_cast<std::int64_t>(posted_ % 2) * stride_;
      auto& request = requests[posted_ % 2];
      if (sends_) {
        auto const* header = reinterpret_cast<MessageHeader const*>(slot);
        check(MPI_Issend(
                  slot,
                  static_cast<int>(sizeof(MessageHeader)) + static_cast<int>(header->size_bytes),
                  MPI_BYTE, peer_, tag_, communicator_, &request),
              "MPI_Issend");
      } else {
        check(MPI_Irecv(slot, static_cast<int>(stride_), MPI_BYTE, peer_, tag_, communicator_,
                        &request),
              "MPI_Irecv");
      }
    }
  }

  /// The request of message n % 2 == `place` has ended.
  void end_one(std::size_t place) {
    is_ended_[place] = true;
    while (ended_ < posted_ && is_ended_[ended_ % 2]) is_ended_[ended_++ % 2] = false;
    (sends_ ? memory_.drained : memory_.filled).store(ended_, std::memory_order_release);
  }

  [[nodiscard]] bool sends() const { return sends_; }

 private:
  /// How many requests may have been posted: a send for each message put, a receive for each
  /// message read and two ahead.
  [[nodiscard]] std::uint64_t allowed() const {
    return sends_ ? memory_.filled.load(std::memory_order_acquire)
                  : memory_.drained.load(std::memory_order_acquire) + 2;
  }

  ChannelMemory& memory_;
  std::byte* slots_;
  std::int64_t stride_;
  std::shared_ptr<void> keeps_;
  int peer_;
  int tag_;
  bool sends_;
  MPI_Comm communicator_;
  std::atomic<std::uint64_t>& rung_;
  std::uint64_t posted_ = 0;
  std::uint64_t ended_ = 0;
  std::array<bool, 2> is_ended_{};
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm world) {
    check(MPI_Comm_dup(world, &communicator_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int* bound = nullptr;
    int found = 0;
    check(MPI_Comm_get_attr(communicator_, MPI_TAG_UB, &bound, &found), "MPI_Comm_get_attr");
    if (found != 0) last_tag_ = *bound;
  }

  ~MpiTransport() override {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised != 0) return;
    // Receives posted ahead have nothing to receive. Requests that do not end at once are there
    // only after a failure; their memory must outlive them, and nothing here may wait.
    bool all_ended = true;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (has_ended(i)) continue;
      all_ended = false;
      (void)ports_[i / 2].release();
    }
    if (all_ended) MPI_Comm_free(&communicator_);
  }

  [[nodiscard]] TransportTraits const& traits() const override { return mpi_traits; }

  [[nodiscard]] Offer offer(OfferRequest const& request) override {
    Offer made;
    if (request.refused != nullptr) {
      made.end = *request.refused;
    } else {
      made.end = new_end(request);
      make_private_channel(made.end, request.slot_bytes);
    }
    auto const tag = next_tag(request.peer);
    open(made.end, tag, false);
    made.invitation = bytes_from(Invitation{request.slot_bytes, tag});
    made.answered = [] {};
    return made;
  }

  [[nodiscard]] Acceptance accept(OfferRequest const& request,
                                  std::span<std::byte const> invitation) override {
    auto const asked = value_from<Invitation>(invitation);
    Acceptance result{new_end(request), ""};
    make_private_channel(result.end, asked.slot_bytes);
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
      ports_[place / 2]->end_one(place % 2);
    }
    return true;
  }

  [[nodiscard]] bool has_pending() const override {
    return std::any_of(ports_.begin(), ports_.end(),
                       [](auto const& port) { return port->has_pending(); });
  }

 private:
  bool has_ended(std::size_t place) {
    auto& request = requests_[place];
    if (request == MPI_REQUEST_NULL) return true;
    if (ports_[place / 2] == nullptr || ports_[place / 2]->sends()) return false;
    int ended = 0;
    MPI_Cancel(&request);
    MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    return ended != 0;
  }

  static ChannelEnd new_end(OfferRequest const& request) {
    ChannelEnd end;
    end.from = request.from;
    end.to = request.to;
    end.peer = request.peer;
    return end;
  }

  /// Tags need only differ between the channels of the same two processes in the same direction.
  int next_tag(ProcessId sender) {
    auto& next = tags_[sender];
    if (next > last_tag_)
      throw TransportError(text("MPI has no more tags for channels from process ", sender));
    return next++;
  }

  void open(ChannelEnd& end, int tag, bool sends) {
    auto port = std::make_unique<Port>(end, tag, sends, communicator_, rung_);
    end.doorbell = port.get();
    end.route = mpi_traits.name;
    requests_.resize(requests_.size() + 2, MPI_REQUEST_NULL);
    ended_.resize(requests_.size());
    statuses_.resize(requests_.size());
    ports_.push_back(std::move(port));
    ports_.back()->ring();  // the receives ahead
    post_rung();
  }

  bool post_rung() {
    auto const rung = rung_.load(std::memory_order_acquire);
    if (rung == heard_) return false;
    heard_ = rung;
    for (std::size_t i = 0; i < ports_.size(); ++i)
      ports_[i]->post(std::span<MPI_Request, 2>(&requests_[2 * i], 2));
    return true;
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
  std::vector<std::unique_ptr<Port>> ports_;
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

}  // namespace tessera
