#include "src/transport/rpc/control_calls.hpp"

#include <algorithm>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

template <class Message>
Message packed(std::span<std::byte const> bytes) {
  Message message;
  TESSERA_ASSERT(bytes.size() <= message.bytes.size(), bytes.size());
  message.size = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), message.bytes.begin());
  return message;
}

template <class Message>
std::span<std::byte const> bytes_in(Message const& message) {
  return std::span(message.bytes).first(message.size);
}

}  // namespace

std::int64_t ControlCalls::most_bytes() const {
  return static_cast<std::int64_t>(control::Request{}.bytes.size() - Call::front_bytes);
}

void ControlCalls::begin(Call& call) {
  slots_.add(call);
  control_channel_.send(call.to, packed<control::Request>(call.request));
  call.is_sent = true;
}

bool ControlCalls::progress() {
  has_moved_ = false;
  poll_();
  return has_moved_;
}

void ControlCalls::on_request(ProcessId from, control::Request const& request) {
  auto const bytes = bytes_in(request);
  if (bytes.size() < Call::front_bytes) throw control::BadMessage("a request without a number");
  answer_.assign(bytes.begin(), bytes.begin() + Call::front_bytes);
  serve_(bytes.subspan(Call::front_bytes), answer_);
  if (answer_.size() > control::Reply{}.bytes.size())
    throw control::BadMessage(
        text("a request whose answer has ", answer_.size(), " bytes, more than a message holds"));
  control_channel_.send(from, packed<control::Reply>(answer_));
  has_moved_ = true;
}

void ControlCalls::on_reply(control::Reply const& reply) {
  (void)slots_.answer(bytes_in(reply));
  has_moved_ = true;
}

}  // namespace tessera
