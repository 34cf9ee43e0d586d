#include "src/transport/rpc/ucx/am_worker.hpp"

#include <utility>

namespace tessera::ucx {

AmWorker::AmWorker(Handler handler)
    : handler_(std::move(handler)), worker_({.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP}) {
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
  check(library().worker_set_am_recv_handler(worker_.get(), &taking),
        "ucp_worker_set_am_recv_handler");
}

}  // namespace tessera::ucx
