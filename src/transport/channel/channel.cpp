#include "src/transport/channel/channel.hpp"

#include "src/base/text.hpp"
#include "src/device/host_memory.hpp"

namespace tessera {

void Sender::wait(Waiter& waiter, StatementTag const& tag) {
  auto const number = put_.load(std::memory_order_relaxed);
  waiter.until(
      [&] {
        drained_ = end_.memory->drained.load(std::memory_order_acquire);
        return number - drained_ < 2;
      },
      {Awaited::Kind::free_slot, end_.from, end_.to, number - 1, tag});
}

void Sender::wait_for_end(Waiter& waiter, StatementTag const& tag) {
  waiter.until([&] { return !has_under_way(); },
               {Awaited::Kind::free_slot, end_.from, end_.to, messages_put(), tag});
}

void Sender::name_file(std::uint64_t number, SourceLocation const& location) {
  header(number)->write_file(location);
  files_[number % 2] = location.file;
}

void Receiver::wait(Waiter& waiter, StatementTag const& tag) {
  auto const& line = end_.memory->lines[taken_ % 2];
  waiter.until([&] { return has_come(line); },
               {Awaited::Kind::message, end_.to, end_.from, taken_ + 1, tag});
}

void Receiver::poison_message() const {
  auto* const slot = end_.slots + slot_offset(taken_);
  auto const* header = reinterpret_cast<MessageHeader const*>(slot);
  auto& line = end_.memory->lines[taken_ % 2];
  bool const is_in_line = line.filled.load(std::memory_order_relaxed) > taken_;
  poison(slot + sizeof(MessageHeader), is_in_line ? line.size_bytes : header->size_bytes);
  if (is_in_line) poison(line.payload.data(), MessageLine::most_payload_bytes);
}

MessageHeader Receiver::header_of(MessageLine const& line) const {
  auto header = *reinterpret_cast<MessageHeader const*>(end_.slots + slot_offset(taken_));
  header.number = line.number;
  header.line = line.source_line;
  return header;
}

void Receiver::change_route(Doorbell* doorbell, Route route, std::shared_ptr<void> keeps) {
  // The waiting thread reads these only after it has seen `filled` rise, which happens after this.
  end_.doorbell = doorbell;
  end_.route = route;
  end_.keeps = std::move(keeps);
}

void Receiver::fail_on_mismatch(MessageHeader const& header, Waiter& waiter,
                                StatementTag const& tag) const {
  waiter.listen({Awaited::Kind::other, end_.to, end_.from, 0, tag});
  auto const* why = header.number == tag.number
                        ? "the two statements differ in their kind, arrays, shapes or layouts"
                        : "one of them has left out or added a statement";
  throw different_programs(
      text("process ", end_.peer, " (device ", end_.from, ") sent a message of ", header.describe(),
           ", but device ", end_.to, " awaits one of ", tag, ':'),
      why);
}

}  // namespace tessera
