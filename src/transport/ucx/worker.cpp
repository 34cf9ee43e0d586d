#include "src/transport/ucx/worker.hpp"

#include <utility>

namespace tessera::ucx {

Worker::Worker(WorkerOptions const& options) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = options.features;
  check(library().init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, options.settings, &context_),
        "ucp_init");
  ucp_worker_params_t worker_params{};
  worker_params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  worker_params.thread_mode = options.threads;
  auto const status = library().worker_create(context_, &worker_params, &worker_);
  if (status == UCS_OK) return;
  library().cleanup(context_);
  check(status, "ucp_worker_create");
}

Worker::~Worker() {
  if (flush_ != nullptr) library().request_free(flush_);
  library().worker_destroy(worker_);
  library().cleanup(context_);
}

std::vector<std::byte> Worker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  check(library().worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
  auto const* const first = reinterpret_cast<std::byte const*>(address);
  std::vector<std::byte> bytes(first, first + length);
  library().worker_release_address(worker_, address);
  return bytes;
}

ucp_ep_h Worker::endpoint_to(std::span<std::byte const> address, ucs_status_t& error) const {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<ucp_address_t const*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler.cb = [](void* of, ucp_ep_h, ucs_status_t status) {
    *static_cast<ucs_status_t*>(of) = status;
  };
  params.err_handler.arg = &error;
  ucp_ep_h endpoint = nullptr;
  check(library().ep_create(worker_, &params, &endpoint), "ucp_ep_create");
  return endpoint;
}

std::uint64_t Worker::memory_kinds() const {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  check(library().context_query(context_, &attributes), "ucp_context_query");
  return attributes.memory_types;
}

void Worker::look_for_rest() {
  if (flush_ != nullptr) {
    if (library().request_check_status(flush_) == UCS_INPROGRESS) return;
    library().request_free(std::exchange(flush_, nullptr));
  }
  if (!std::exchange(has_sent_, false)) return;
  ucp_request_param_t const params{};
  auto* const request = library().worker_flush_nbx(worker_, &params);
  if (!UCS_PTR_IS_ERR(request)) flush_ = request;
}

}  // namespace tessera::ucx
