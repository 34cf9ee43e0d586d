#include "src/execution/one_sided/request_queue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

/// The largest number of simultaneous calls: enough to hide the latency to other processes.
constexpr std::size_t most_under_way = 64;
/// The unit that is read and written atomically if a cell does not fit one call.
constexpr std::int64_t word_bytes = 8;
/// Polls for an answer before the wait starts to do other work of this thread.
constexpr int looks_alone = 64;
/// The largest number of bytes that are shown of a refusal: more than this library writes.
constexpr std::size_t most_of_reason = 200;

}  // namespace

// UCX may still use the memory of calls that are under way, so it is never freed. A list that is
// still there when the process ends shows that to tools that look for leaks.
RequestQueue::~RequestQueue() {
  static auto* const never_freed = new std::vector<std::unique_ptr<Part>>;
  for (auto& part : under_way_) {
    part->request->is_abandoned = true;
    part->request.reset();
    never_freed->push_back(std::move(part));
  }
}

template <class Ready>
void RequestQueue::wait_until(Ready const& ready, DeviceId peer) {
  auto const look = [&] {
    progress();
    return ready();
  };
  // Most answers arrive soon, and the waiter drives all other transports between two polls.
  for (int i = 0; i < looks_alone; ++i)
    if (look()) return;
  Awaited const what{Awaited::Kind::answer, job_.first_local(), peer, 0, {}};
  collectives_.guarded([&] { network_.caller_wait_policy().until(look, what); });
}

void RequestQueue::wait(OneSidedRequest const& request) {
  wait_until([&] { return request.left == 0; }, request.peer);
  if (!request.failure) return;
  collectives_.guarded([&] { throw PeerFailed(*request.failure); });
}

void RequestQueue::finish() {
  while (!under_way_.empty()) {
    auto const request = under_way_.front()->request;
    wait(*request);
  }
  if (first_failure_) collectives_.guarded([&] { throw PeerFailed(*first_failure_); });
}

void RequestQueue::progress() {
  // After a failure the destination of an answer may be gone; its waiter has been notified.
  if (under_way_.empty() || network_.failure().is_set()) return;
  (void)calls_->progress();
  for (std::size_t i = 0; i < under_way_.size();) {
    if (!under_way_[i]->call.is_done()) {
      ++i;
      continue;
    }
    take_answer(*under_way_[i]);
    free_.push_back(std::move(under_way_[i]));
    if (i + 1 < under_way_.size()) under_way_[i] = std::move(under_way_.back());
    under_way_.pop_back();
  }
}

void RequestQueue::take_answer(Part& part) {
  auto& request = *part.request;
  --request.left;
  auto& call = part.call;
  auto const answer = std::span<std::byte const>(call.answer)
                          .subspan(std::min(call.answer.size(), Call::front_bytes));
  if (!call.reason.empty()) {
    request.failure = call.reason;
  } else if (answer.empty() ||
             AnswerStatus{std::to_integer<std::uint8_t>(answer.front())} != AnswerStatus::done) {
    auto const words = answer.empty() ? answer : answer.subspan(1);
    request.failure =
        text("process ", call.to, ": ",
             excerpt({reinterpret_cast<char const*>(words.data()), words.size()}, most_of_reason));
  } else if (std::ssize(answer) - 1 != part.answer_bytes) {
    request.failure = text("process ", call.to, " answered with ", std::ssize(answer) - 1,
                           " bytes of cells where it was asked for ", part.answer_bytes);
  } else if (request.into != nullptr && part.answer_bytes > 0) {
    (void)unpack(request.into, part.place, part.first_byte, answer.subspan(1));
  }
  if (!first_failure_) first_failure_ = request.failure;
  part.request.reset();
}

std::unique_ptr<RequestQueue::Part> RequestQueue::new_part(DeviceId peer) {
  if (under_way_.size() >= most_under_way)
    wait_until([&] { return under_way_.size() < most_under_way; }, peer);
  if (free_.empty()) return std::make_unique<Part>();
  auto part = std::move(free_.back());
  free_.pop_back();
  part->call.reason.clear();
  part->call.is_sent = part->call.is_answered = false;
  return part;
}

void RequestQueue::send(std::shared_ptr<OneSidedRequest> const& request,
                        RequestMessage const& message, StridedBlock const& place,
                        std::span<std::byte const> cells) {
  DeviceId const owner(message.device);
  auto part = new_part(owner);
  part->request = request;
  part->place = place;
  part->first_byte = message.first_byte;
  part->answer_bytes = message.what == RequestMessage::What::write ? 0 : message.bytes;
  auto& call = part->call;
  call.to = job_.process_of(owner);
  call.request.resize(Call::front_bytes + sizeof message + cells.size());
  std::memcpy(call.request.data() + Call::front_bytes, &message, sizeof message);
  if (!cells.empty())
    std::memcpy(call.request.data() + Call::front_bytes + sizeof message, cells.data(),
                cells.size());
  ++request->left;
  request->peer = owner;
  under_way_.push_back(std::move(part));
  calls_->begin(call);
}

void RequestQueue::send_cells(std::shared_ptr<OneSidedRequest> const& request,
                              RequestMessage message, StridedBlock const& place,
                              std::byte const* from) {
  auto most = calls_->most_bytes() - static_cast<std::int64_t>(sizeof message) - 1;
  // A cell travels whole; a longer one in words.
  auto const whole_bytes = place.element_bytes <= most ? place.element_bytes : word_bytes;
  most -= most % whole_bytes;
  std::vector<std::byte> piece;
  auto const total = message.bytes;
  for (std::int64_t done = 0; done < total; done += message.bytes) {
    message.first_byte = done;
    message.bytes = std::min(most, total - done);
    if (from != nullptr) {
      piece.resize(static_cast<std::size_t>(message.bytes));
      (void)pack(from, place, done, piece);
    }
    send(request, message, place, piece);
  }
}

}  // namespace tessera
