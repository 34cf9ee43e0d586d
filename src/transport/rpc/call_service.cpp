#include "src/transport/rpc/call_service.hpp"

#include <iterator>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/job/host_address.hpp"

namespace tessera {

std::string CallService::prepare(std::optional<Route> forced, Serve const& serve) {
  bool const is_one_host = std::ssize(bootstrap_.host_processes()) == bootstrap_.process_count();
  auto const address = is_one_host ? loopback_address : address_among_hosts(bootstrap_);
  if (forced == Route::mpi) return "TESSERA_ROUTE=mpi is set";
  if (!bootstrap_.allows_threads()) return "MPI was initialised for a single thread";
  try {
    by_threads_ = make_ucx_calls(
        {address, bootstrap_.self(), bootstrap_.process_count(), secret_, refused_}, serve);
  } catch (Error const& error) {
    return error.what();
  }
  return {};
}

void CallService::open_by_threads() {
  by_threads_->set_addresses(bootstrap_.table_of(by_threads_->address()));
}

void CallService::open_by_callers(std::function<void()> poll, Serve const& serve) {
  by_threads_.reset();
  by_callers_ = std::make_unique<ControlCalls>(control_channel_, std::move(poll), serve);
}

Calls* CallService::calls() const {
  if (by_callers_) return by_callers_.get();
  return by_threads_.get();
}

void CallService::on_request(ProcessId from, control::Request const& request) {
  if (by_callers_) by_callers_->on_request(from, request);
}

void CallService::on_reply(control::Reply const& reply) {
  if (by_callers_) by_callers_->on_reply(reply);
}

}  // namespace tessera
