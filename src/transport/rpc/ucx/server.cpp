#include "src/transport/rpc/ucx/server.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/job/ipc/signals.hpp"

namespace tessera::ucx {
namespace {

using Clock = std::chrono::steady_clock;

/// Requests seldom come alone, and waking costs several times as much as an answer, so the thread
/// keeps polling for a moment. It does not yield: beside a computing thread, a yield would cost a
/// whole time slice, whereas a sleeping thread is scheduled at once.
constexpr std::chrono::microseconds awake_after_work{50};
/// If a poll takes this long, another thread has the core; the server then leaves it the core.
constexpr std::chrono::microseconds interruption{500};
constexpr std::chrono::milliseconds asleep_after_interruption{200};
/// Polls for messages between two polls for processes that request the address.
constexpr int looks_between_guests = 1024;

}  // namespace

Server::Server(ServedCallTools const& tools, Serve serve)
    : serve_(std::move(serve)),
      refused_(tools.refused),
      checker_(tools.secret, tools.self, tools.process_count),
      address_server_(tools),
      worker_([this](auto request, ucp_ep_h back) { take(request, back); }),
      own_address_(worker_.address()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (wake_ < 0) throw TransportError("eventfd failed");
  try {
    SignalsBlocked const blocked;
    thread_ = std::thread([this] { run(); });
    ::pthread_setname_np(thread_.native_handle(), "tessera-calls");
  } catch (std::system_error const&) {
    ::close(wake_);
    throw TransportError("the system provides no thread for answering others");
  }
}

Server::~Server() {
  is_stopping_ = true;
  std::uint64_t const one = 1;
  (void)!::write(wake_, &one, sizeof one);
  thread_.join();
  ::close(wake_);
}

void Server::run() {
  int events = -1;
  if (library().worker_get_efd(worker_.get(), &events) != UCS_OK) events = -1;
  auto last_look = Clock::now();
  auto awake_until = last_look;
  auto asleep_until = last_look;
  for (std::uint64_t look = 0; !is_stopping_; ++look) {
    if (look % looks_between_guests == 0) address_server_.serve(own_address_);
    bool const has_worked = worker_.progress();
    auto const now = Clock::now();
    if (now - last_look > interruption) asleep_until = now + asleep_after_interruption;
    last_look = now;
    if (has_worked) {
      awake_until = now + awake_after_work;
    } else if (now > awake_until || now < asleep_until) {
      if (sleep(events)) awake_until = Clock::now() + awake_after_work;
      last_look = Clock::now();
    }
  }
}

// True if a request woke it.
bool Server::sleep(int worker_events) {
  if (library().worker_arm(worker_.get()) != UCS_OK) return false;  // something has come meanwhile
  constexpr int without_events_ms = 1;
  while (true) {
    pollfd look[] = {
        {worker_events, POLLIN, 0}, {address_server_.descriptor(), POLLIN, 0}, {wake_, POLLIN, 0}};
    (void)::poll(look, std::size(look),
                 worker_events < 0 ? without_events_ms : address_server_.next_look_ms());
    address_server_.serve(own_address_);
    if (look[0].revents != 0) return true;
    if (look[2].revents != 0 || worker_events < 0) return false;
    // Guests only: the worker is still armed.
  }
}

void Server::take(std::span<std::byte const> request, ucp_ep_h back) {
  auto const from = checker_.sender_of(request);
  if (!from) return refused_.add(RefusedKind::request);
  if (back == nullptr) return;
  auto& answer = free_answer();
  answer.bytes.assign(request.begin(), request.begin() + Call::front_bytes);
  serve_(request.subspan(Call::front_bytes), answer.bytes);
  checker_.sign_answer(answer.bytes, *from);
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.user_data = &answer;
  // An error means that the requesting process is gone.
  params.cb.send = [](void* sent, ucs_status_t, void* of) {
    library().request_free(sent);
    static_cast<Answer*>(of)->is_under_way = false;
  };
  answer.is_under_way = true;
  auto* const sent = library().am_send_nbx(back, AmWorker::message_id, nullptr, 0,
                                           answer.bytes.data(), answer.bytes.size(), &params);
  if (sent == nullptr || UCS_PTR_IS_ERR(sent)) answer.is_under_way = false;
}

Server::Answer& Server::free_answer() {
  auto const found = std::find_if(answers_.begin(), answers_.end(),
                                  [](auto const& answer) { return !answer.is_under_way; });
  return found != answers_.end() ? *found : answers_.emplace_back();
}

}  // namespace tessera::ucx
