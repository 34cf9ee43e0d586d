#include "tessera/transport/channel.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/memory.hpp"

namespace tessera {

std::string_view to_string(Route route) {
  switch (route) {
    case Route::local:
      return "local";
    case Route::shm:
      return "shm";
    case Route::ucx:
      return "ucx";
    case Route::mpi:
      return "mpi";
    case Route::peer:
      return "peer";
    case Route::ipc:
      return "ipc";
    case Route::nccl:
      return "nccl";
    case Route::ucx_gpu:
      break;
  }
  return "ucx_gpu";
}

std::ostream& operator<<(std::ostream& out, Route route) {
  return out << to_string(route);
}

void Sender::wait(Waiter& waiter, StatementTag const& tag) {
  auto const number = put_.load(std::memory_order_relaxed);
  std::uint64_t const slots = planted("slot_overrun") ? 3 : 2;
  waiter.until(
      [&] { return number - end_.memory->drained.load(std::memory_order_acquire) < slots; },
      {Awaited::Kind::free_slot, end_.from, end_.to, number - 1, tag});
}

void Sender::name_file(std::uint64_t number, Place const& place) {
  header(number)->write_file(place);
  files_[number % 2] = place.file;
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
  throw Mismatch(text("process ", end_.peer, " (device ", end_.from, ") sent a message of ",
                      header.describe(), ", but device ", end_.to, " awaits one of ", tag,
                      ": the processes run different programs (", why,
                      "); every process must run the same statements in the same order"));
}

}  // namespace tessera
