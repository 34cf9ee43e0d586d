#include "src/transport/ucx/library.hpp"

#include <dlfcn.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::ucx {
namespace {

constexpr char const* file = "libucp.so.0";

void* open_library() {
  // The library stays loaded, because it registers thread keys and handlers.
  if (auto* const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) return handle;
  throw TransportError(text("UCX cannot be loaded (", ::dlerror(),
                            "); install it (Debian: libucx0) on every host of the job"));
}

template <class Function>
void find(void* handle, char const* name, Function& function) {
  auto* const address = ::dlsym(handle, name);
  if (address == nullptr)
    throw TransportError(text(file, " has no ", name, "; version 1.10 of UCX or newer is needed"));
  function = reinterpret_cast<Function>(address);
}

Library load() {
  auto* const handle = open_library();
  Library found{};
  find(handle, "ucp_config_read", found.config_read);
  find(handle, "ucp_config_modify", found.config_modify);
  find(handle, "ucp_config_release", found.config_release);
  find(handle, "ucp_init_version", found.init_version);
  find(handle, "ucp_cleanup", found.cleanup);
  find(handle, "ucp_context_query", found.context_query);
  find(handle, "ucp_worker_create", found.worker_create);
  find(handle, "ucp_worker_destroy", found.worker_destroy);
  find(handle, "ucp_worker_progress", found.worker_progress);
  find(handle, "ucp_worker_flush_nbx", found.worker_flush_nbx);
  find(handle, "ucp_worker_get_address", found.worker_get_address);
  find(handle, "ucp_worker_release_address", found.worker_release_address);
  find(handle, "ucp_worker_get_efd", found.worker_get_efd);
  find(handle, "ucp_worker_arm", found.worker_arm);
  find(handle, "ucp_worker_set_am_recv_handler", found.worker_set_am_recv_handler);
  find(handle, "ucp_am_send_nbx", found.am_send_nbx);
  find(handle, "ucp_ep_create", found.ep_create);
  find(handle, "ucp_ep_close_nbx", found.ep_close_nbx);
  find(handle, "ucp_tag_send_sync_nbx", found.tag_send_sync_nbx);
  find(handle, "ucp_tag_send_nbx", found.tag_send_nbx);
  find(handle, "ucp_tag_recv_nbx", found.tag_recv_nbx);
  find(handle, "ucp_request_cancel", found.request_cancel);
  find(handle, "ucp_request_check_status", found.request_check_status);
  find(handle, "ucp_request_free", found.request_free);
  find(handle, "ucs_status_string", found.status_string);  // of a library that it brings
  return found;
}

}  // namespace

Library const& library() {
  static Library const loaded = load();
  return loaded;
}

void check(ucs_status_t status, char const* call) {
  if (status == UCS_OK) return;
  throw TransportError(text(call, " failed: ", library().status_string(status)));
}

void close(ucp_worker_h worker, ucp_ep_h endpoint) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_EP_CLOSE_FLAG_FORCE;
  auto* const request = library().ep_close_nbx(endpoint, &params);
  if (request == nullptr || UCS_PTR_IS_ERR(request)) return;
  for (int look = 0; look < 1000 && library().request_check_status(request) == UCS_INPROGRESS;
       ++look)
    (void)library().worker_progress(worker);
  library().request_free(request);
}

}  // namespace tessera::ucx
