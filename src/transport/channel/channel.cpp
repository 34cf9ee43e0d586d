#include "src/transport/channel/channel.hpp"

#include "src/base/text.hpp"
#include "src/device/host_memory.hpp"

namespace tessera {

void Sender::wait(Waiter& waiter, StatementTag const& tag) {
  auto const number = put_.load(std::memory_order_relaxed);
  waiter.until([&] { return number - end_.memory->drained.load(std::memory_order_acquire) < 2; },
               {Awaited::Kind::free_slot, end_.from, end_.to, number - 1, tag});
}

void Sender::name_file(std::uint64_t number, SourceLocation const& location) {
  header(number)->write_file(location);
  files_[number % 2] = location.file;
}

void Receiver::wait(Waiter& waiter, StatementTag const& tag) {
  waiter.until([&] { return end_.memory->filled.load(std::memory_order_acquire) > taken_; },
               {Awaited::Kind::message, end_.to, end_.from, taken_ + 1, tag});
}

void Receiver::poison_message() const {
  auto* slot = end_.slots + slot_offset(taken_);
  auto const* header = reinterpret_cast<MessageHeader const*>(slot);
  poison(slot + sizeof(MessageHeader), header->size_bytes);
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
