#pragma once
/// @file
/// What one-sided access between hosts is compared with: an active message of UCX to a process that
/// does nothing but wait for it, and one back.

#include <cstdint>
#include <stdexcept>
#include <vector>

#include <mpi.h>
#include <sched.h>
#include <ucp/api/ucp.h>

namespace raw {

inline void check(ucs_status_t status) {
  if (status != UCS_OK) throw std::runtime_error(ucs_status_string(status));
}

/// Two processes: the first asks, the second answers with a number from its list.
class RoundTrip {
 public:
  RoundTrip(int rank, std::vector<double> const& numbers) : rank_(rank), numbers_(numbers) {
    ucp_params_t params{};
    params.field_mask = UCP_PARAM_FIELD_FEATURES;
    params.features = UCP_FEATURE_AM;
    check(ucp_init(&params, nullptr, &context_));
    ucp_worker_params_t worker_params{};
    check(ucp_worker_create(context_, &worker_params, &worker_));
    ucp_am_handler_param_t taking{};
    taking.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                        UCP_AM_HANDLER_PARAM_FIELD_ARG;
    taking.id = 1;
    taking.arg = this;
    taking.cb = [](void* self, void const*, std::size_t, void* data, std::size_t,
                   ucp_am_recv_param_t const*) {
      static_cast<RoundTrip*>(self)->take(data);
      return UCS_OK;
    };
    check(ucp_worker_set_am_recv_handler(worker_, &taking));
    connect();
  }
  ~RoundTrip() {
    ucp_worker_destroy(worker_);
    ucp_cleanup(context_);
  }
  RoundTrip(RoundTrip const&) = delete;
  RoundTrip& operator=(RoundTrip const&) = delete;

  double ask(std::int64_t place) {
    place_ = place;
    send(&place_);
    wait_for_one_more();
    return number_;
  }
  void answer_one() { wait_for_one_more(); }

 private:
  void connect() {
    ucp_address_t* address = nullptr;
    std::size_t length = 0;
    check(ucp_worker_get_address(worker_, &address, &length));
    std::vector<char> theirs(4096);
    MPI_Sendrecv(address, static_cast<int>(length), MPI_CHAR, 1 - rank_, 0, theirs.data(),
                 static_cast<int>(theirs.size()), MPI_CHAR, 1 - rank_, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    ucp_worker_release_address(worker_, address);
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<ucp_address_t const*>(theirs.data());
    check(ucp_ep_create(worker_, &params, &endpoint_));
  }

  void take(void const* data) {
    ++taken_;
    if (rank_ == 0) {
      __builtin_memcpy(&number_, data, sizeof number_);
      return;
    }
    std::int64_t place = 0;
    __builtin_memcpy(&place, data, sizeof place);
    number_ = numbers_[static_cast<std::size_t>(place)];
    send(&number_);
  }

  void send(void const* eight_bytes) {
    ucp_request_param_t params{};
    auto* const request = ucp_am_send_nbx(endpoint_, 1, nullptr, 0, eight_bytes, 8, &params);
    if (UCS_PTR_IS_ERR(request)) check(UCS_PTR_STATUS(request));
    if (request != nullptr) ucp_request_free(request);
  }

  void wait_for_one_more() {
    auto const before = seen_++;
    while (taken_ == before)
      if (ucp_worker_progress(worker_) == 0) sched_yield();
  }

  int rank_;
  std::vector<double> const& numbers_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  std::int64_t place_ = 0;
  double number_ = 0;
  std::int64_t taken_ = 0;
  std::int64_t seen_ = 0;
};

}  // namespace raw
