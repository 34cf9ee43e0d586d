#include "am_worker.hpp"

#include <utility>

namespace tessera::ucx {

AmWorker::AmWorker(Handler handler) : handler_(std::move(handler)) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  check(library().init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, nullptr, &context_),
        "ucp_init");
  try {
    start();
  } catch (...) {
    if (worker_ != nullptr) library().worker_destroy(worker_);
    library().cleanup(context_);
    throw;
  }
}

void AmWorker::start() {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  check(library().worker_create(context_, &params, &worker_), "ucp_worker_create");
  ucp_am_handler_param_t taking{};
  taking.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  taking.id = message_id;
  taking.flags = UCP_AM_FLAG_WHOLE_MSG;
  taking.arg = this;
  taking.cb = [](void* self, void const*, std::size_t, void* data, std::size_t length,
                 ucp_am_recv_param_t const* param) {
    bool const can_answer = (param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) != 0;
    static_cast<AmWorker*>(self)->handler_({static_cast<std::byte const*>(data), length},
                                           can_answer ? param->reply_ep : nullptr);
    return UCS_OK;
  };
  check(library().worker_set_am_recv_handler(worker_, &taking), "ucp_worker_set_am_recv_handler");
}

AmWorker::~AmWorker() {
  library().worker_destroy(worker_);
  library().cleanup(context_);
}

std::vector<std::byte> AmWorker::address() const {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  check(library().worker_get_address(worker_, &address, &length), "ucp_worker_get_address");
  auto const* const first = reinterpret_cast<std::byte const*>(address);
  std::vector<std::byte> bytes(first, first + length);
  library().worker_release_address(worker_, address);
  return bytes;
}

ucp_ep_h AmWorker::endpoint_to(std::span<std::byte const> address, ucs_status_t& error) const {
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

}  // namespace tessera::ucx
