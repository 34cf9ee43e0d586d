#pragma once
/// @file
/// Requests of one-sided access that are under way to other processes.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/device/strided.hpp"
#include "src/execution/one_sided/cell_requests.hpp"
#include "src/execution/one_sided/host_collectives.hpp"
#include "src/execution/one_sided/one_sided_request.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// Sends requests part by part, one call for each, and takes the answers.
///
/// Threads: the caller's.
/// Cost:    calls that have been answered serve again: after the first ones, a request of one cell
///          allocates only itself.
class RequestQueue {
 public:
  RequestQueue(HostCollectives& collectives, Network& network, Job const& job)
      : collectives_(collectives), network_(network), job_(job) {}
  ~RequestQueue();
  RequestQueue(RequestQueue const&) = delete;
  RequestQueue& operator=(RequestQueue const&) = delete;

  /// Makes requests possible: they are sent by `calls`. Lifetime: longer than this.
  void open(Calls& calls) { calls_ = &calls; }
  /// Sends one message to the owner that it names. `place`: of its cells among those of the
  /// request. `cells`: what is to be written.
  void send(std::shared_ptr<OneSidedRequest> const& request, RequestMessage const& message,
            StridedBlock const& place, std::span<std::byte const> cells);
  /// Sends the message for many cells of one owner, in pieces that a call holds. Reads the cells at
  /// `from`, unless it is null.
  void send_cells(std::shared_ptr<OneSidedRequest> const& request, RequestMessage message,
                  StridedBlock const& place, std::byte const* from);

  /// Takes the answers that have come, also to other requests.
  void progress();
  /// Returns once a request has been answered. Throws: PeerFailed if it has failed.
  void wait(OneSidedRequest const& request);
  /// Returns once all requests have been answered. Throws: PeerFailed if one has failed, waited for
  /// or not.
  void finish();

 private:
  /// A call, and the place where its answer goes.
  struct Part {
    Call call;
    std::shared_ptr<OneSidedRequest> request;
    StridedBlock place;             ///< in the request's cells
    std::int64_t first_byte = 0;    ///< of the place's stream
    std::int64_t answer_bytes = 0;  ///< of cells, that a right answer brings
  };

  template <class Ready>
  void wait_until(Ready const& ready, DeviceId peer);
  [[nodiscard]] std::unique_ptr<Part> new_part(DeviceId peer);
  void take_answer(Part& part);

  HostCollectives& collectives_;
  Network& network_;
  Job const& job_;
  Calls* calls_ = nullptr;  ///< null until they are open
  std::vector<std::unique_ptr<Part>> under_way_;
  std::vector<std::unique_ptr<Part>> free_;
  std::optional<std::string> first_failure_;  ///< whether or not anybody waits for that request
};

}  // namespace tessera
