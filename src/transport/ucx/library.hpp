#pragma once
/// @file
/// The functions of UCX, loaded at run time: a program that stays on one host does not load the
/// library, whose start installs signal handlers and takes time.

#include <ucp/api/ucp.h>

namespace tessera::ucx {

/// The functions that Tessera calls. Each stands for the function of its name with the prefix
/// `ucp_`.
struct Library {
  decltype(&::ucp_config_read) config_read;
  decltype(&::ucp_config_modify) config_modify;
  decltype(&::ucp_config_release) config_release;
  decltype(&::ucp_init_version) init_version;
  decltype(&::ucp_cleanup) cleanup;
  decltype(&::ucp_context_query) context_query;
  decltype(&::ucp_worker_create) worker_create;
  decltype(&::ucp_worker_destroy) worker_destroy;
  decltype(&::ucp_worker_progress) worker_progress;
  decltype(&::ucp_worker_flush_nbx) worker_flush_nbx;
  decltype(&::ucp_worker_get_address) worker_get_address;
  decltype(&::ucp_worker_release_address) worker_release_address;
  decltype(&::ucp_worker_get_efd) worker_get_efd;
  decltype(&::ucp_worker_arm) worker_arm;
  decltype(&::ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&::ucp_am_send_nbx) am_send_nbx;
  decltype(&::ucp_ep_create) ep_create;
  decltype(&::ucp_ep_close_nbx) ep_close_nbx;
  decltype(&::ucp_tag_send_nbx) tag_send_nbx;
  decltype(&::ucp_tag_send_sync_nbx) tag_send_sync_nbx;
  decltype(&::ucp_tag_recv_nbx) tag_recv_nbx;
  decltype(&::ucp_request_cancel) request_cancel;
  decltype(&::ucp_request_check_status) request_check_status;
  decltype(&::ucp_request_free) request_free;
  decltype(&::ucs_status_string) status_string;  ///< of `ucs_`
};

/// The library, loaded at the first call.
/// Throws: TransportError if it is missing, with the system's error and a remedy.
[[nodiscard]] Library const& library();

/// Throws: TransportError with UCX's own words if `status` is an error.
void check(ucs_status_t status, char const* call);

/// Closes an endpoint of a worker without the other end's consent, and waits briefly for that. All
/// data have arrived before, or there was a failure.
void close(ucp_worker_h worker, ucp_ep_h endpoint);

}  // namespace tessera::ucx
