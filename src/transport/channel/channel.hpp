#pragma once
/// @file
/// A channel: one ordered pair of devices, two landing slots and two counters.
///
///     sender                                   receiver
///     slot()  waits until filled - drained < 2
///     put()   filled + 1          ------->     take()     waits until filled > taken
///                                 <-------     release()  drained + 1
///
/// If both ends see the same memory (same process, same host), they share the slots, and a message
/// is a store and a release. The counter `filled` then stands in the message's line, with all of a
/// short message, so that one line goes from core to core. Otherwise each end has its own slots,
/// and the transport carries the bytes and the counters between them; a `Doorbell` notifies it of
/// work.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "tessera/base/ids.hpp"

#include "src/transport/protocol/message.hpp"
#include "src/transport/protocol/route.hpp"
#include "src/transport/protocol/waiter.hpp"

namespace tessera {

/// What both ends share of a message if they see the same memory: the header but for the file,
/// which is in the slot, and the payload if it is short.
struct alignas(64) MessageLine {
  static constexpr std::int64_t most_payload_bytes = 32;

  std::atomic<std::uint64_t> filled{0};  ///< messages of the channel up to this one
  std::uint64_t number = 0;              ///< of the statement, as the next two
  std::uint64_t hash = 0;
  std::uint32_t source_line = 0;
  std::uint32_t size_bytes = 0;  ///< of the payload
  std::array<std::byte, most_payload_bytes> payload{};

  [[nodiscard]] bool is_of(StatementTag const& tag) const {
    return number == tag.number && hash == tag.hash;
  }
  [[nodiscard]] bool holds_payload() const { return size_bytes <= payload.size(); }
};
static_assert(sizeof(MessageLine) == 64);

/// The shared state of a channel; the slots follow it in memory, each a header and its payload.
struct ChannelMemory {
  alignas(64) std::atomic<std::uint64_t> filled{0};  ///< of ends that share no memory
  alignas(64) std::atomic<std::uint64_t> drained{0};
  std::array<MessageLine, 2> lines;  ///< of ends that do: one for each slot
};

/// Bytes behind the payload of each slot in which a transport may send a code of its own.
inline constexpr std::int64_t seal_bytes = 16;

/// Whether slots are filled with signalling NaNs before they are written again, so that reads of
/// unsent data show. A property of the build: define TESSERA_POISON for the library and its users.
#ifdef TESSERA_POISON
inline constexpr bool poison_slots = true;
#else
inline constexpr bool poison_slots = false;
#endif

/// Whether a message must be confirmed before its slot is free again, on a channel whose ends share
/// no memory. Every eighth short message and every fourth long one is confirmed; the others need no
/// answer. A sender may therefore be at most nine messages ahead of the receives, or five if all
/// are long.
[[nodiscard]] constexpr bool is_confirmed(std::uint64_t number, std::int64_t payload_bytes) {
  constexpr std::int64_t most_short_bytes = 16 * 1024;
  return payload_bytes > most_short_bytes ? number % 4 == 3 : number % 8 == 7;
}

/// Slots of a channel. Where its ends share memory, a sender may be so many messages ahead.
inline constexpr std::int64_t slots_per_channel = 2;

/// The way in which a channel without shared memory notifies its transport that a counter moved.
/// Threads: called by the thread that drives the channel's end.
class Doorbell {
 public:
  virtual ~Doorbell() = default;
  virtual void ring() = 0;
};

/// The common state of both ends of a channel.
struct ChannelEnd {
  DeviceId from;
  DeviceId to;
  ProcessId peer;  ///< the process of the other end
  ChannelMemory* memory = nullptr;
  std::byte* slots = nullptr;    ///< two, `slot_stride` bytes apart
  std::int64_t slot_stride = 0;  ///< header, payload, room for a seal, and padding
  std::int64_t slot_bytes = 0;   ///< payload only; a constant of the route
  Doorbell* doorbell = nullptr;  ///< none where both ends share the memory
  Route route = Route::local;
  std::shared_ptr<void> keeps;  ///< objects that must live as long as this end
};

/// The sending end. Threads: one. A step allocates nothing, matches nothing and takes no lock.
class Sender {
 public:
  explicit Sender(ChannelEnd end) : end_(std::move(end)) {}

  [[nodiscard]] ChannelEnd const& end() const { return end_; }
  [[nodiscard]] std::int64_t slot_bytes() const { return end_.slot_bytes; }
  /// True while a message that was put is under way: where the ends share memory until the receiver
  /// has released it, else as long as the transport needs it. Threads: any.
  [[nodiscard]] bool has_under_way() const {
    return end_.memory->drained.load(std::memory_order_acquire) <
           put_.load(std::memory_order_acquire);
  }
  /// True while the transport still needs a message that was put. Threads: any.
  [[nodiscard]] bool has_unsent() const { return end_.doorbell != nullptr && has_under_way(); }
  /// Waits until no message is under way. Throws: PeerFailed, Mismatch.
  void finish(Waiter& waiter, StatementTag const& tag) {
    if (has_under_way()) wait_for_end(waiter, tag);
  }
  [[nodiscard]] std::uint64_t messages_put() const { return put_.load(std::memory_order_relaxed); }

  /// Where to pack the next message, of at most `size_bytes`. Waits until the message before the
  /// last has been drained, so that a fast sender cannot overrun its reader. Valid until `put`.
  /// Throws: PeerFailed, Mismatch.
  [[nodiscard]] std::span<std::byte> slot(Waiter& waiter, StatementTag const& tag,
                                          std::int64_t size_bytes) {
    auto const number = put_.load(std::memory_order_relaxed);
    // Of a counter that the other core writes, an old value is often enough.
    if (number - drained_ >= 2) drained_ = end_.memory->drained.load(std::memory_order_acquire);
    if (number - drained_ >= 2) wait(waiter, tag);
    auto const size = static_cast<std::size_t>(size_bytes);
    is_in_line_ = end_.doorbell == nullptr && size_bytes <= MessageLine::most_payload_bytes;
    return {is_in_line_ ? end_.memory->lines[number % 2].payload.data() : payload(number), size};
  }
  /// The same for a message of any size.
  [[nodiscard]] std::span<std::byte> slot(Waiter& waiter, StatementTag const& tag) {
    return slot(waiter, tag, end_.slot_bytes);
  }

  /// Hands the packed slot over.
  void put(StatementTag const& tag, std::int64_t size_bytes) {
    auto const number = put_.load(std::memory_order_relaxed);
    if (files_[number % 2] != tag.location.file) name_file(number, tag.location);
    put_.store(number + 1, std::memory_order_relaxed);
    if (end_.doorbell == nullptr) return put_line(number, tag, size_bytes);
    header(number)->write(tag, size_bytes);
    end_.memory->filled.store(number + 1, std::memory_order_release);
    end_.doorbell->ring();
  }

 private:
  void wait(Waiter& waiter, StatementTag const& tag);
  void wait_for_end(Waiter& waiter, StatementTag const& tag);
  void name_file(std::uint64_t number, SourceLocation const& location);
  void put_line(std::uint64_t number, StatementTag const& tag, std::int64_t size_bytes) {
    auto& line = end_.memory->lines[number % 2];
    line.number = tag.number;
    line.hash = tag.hash;
    line.source_line = tag.location.line;
    line.size_bytes = static_cast<std::uint32_t>(size_bytes);
    if (!is_in_line_ && line.holds_payload())
      std::memcpy(line.payload.data(), payload(number), line.size_bytes);
    line.filled.store(number + 1, std::memory_order_release);
  }
  [[nodiscard]] MessageHeader* header(std::uint64_t number) const {
    return reinterpret_cast<MessageHeader*>(end_.slots + slot_offset(number));
  }
  [[nodiscard]] std::byte* payload(std::uint64_t number) const {
    return end_.slots + slot_offset(number) + sizeof(MessageHeader);
  }

  [[nodiscard]] std::int64_t slot_offset(std::uint64_t number) const {
    return static_cast<std::int64_t>(number % 2) * end_.slot_stride;
  }

  ChannelEnd end_;
  std::array<char const*, 2> files_{};  ///< the file named in the header of each slot
  std::uint64_t drained_ = 0;           ///< what was last seen of the counter
  bool is_in_line_ = false;             ///< where the next message is packed
  std::atomic<std::uint64_t> put_{0};   ///< written by the sender alone, read by the watch
};

/// The receiving end. Threads: one.
class Receiver {
 public:
  explicit Receiver(ChannelEnd end) : end_(std::move(end)) {}

  [[nodiscard]] ChannelEnd const& end() const { return end_; }
  [[nodiscard]] std::int64_t slot_bytes() const { return end_.slot_bytes; }

  /// Waits for the next message. Valid until `release`.
  /// Throws: PeerFailed; Mismatch if the message belongs to another statement.
  [[nodiscard]] std::span<std::byte const> take(Waiter& waiter, StatementTag const& tag) {
    auto const& line = end_.memory->lines[taken_ % 2];
    if (!has_come(line)) wait(waiter, tag);
    auto const* slot = end_.slots + slot_offset(taken_);
    auto const* const payload = slot + sizeof(MessageHeader);
    if (line.filled.load(std::memory_order_relaxed) > taken_) {
      if (!line.is_of(tag)) fail_on_mismatch(header_of(line), waiter, tag);
      return {line.holds_payload() ? line.payload.data() : payload, line.size_bytes};
    }
    auto const* header = reinterpret_cast<MessageHeader const*>(slot);
    if (!header->is_of(tag)) fail_on_mismatch(*header, waiter, tag);
    return {payload, static_cast<std::size_t>(header->size_bytes)};
  }

  /// Allows the sender to write that slot again.
  void release() {
    if constexpr (poison_slots) poison_message();
    end_.memory->drained.store(++taken_, std::memory_order_release);
    if (end_.doorbell != nullptr) end_.doorbell->ring();
  }

  /// From now on another route carries the bytes into the same slots, because the sender could not
  /// map them. A thread that already waits for the first message is not affected. Threads: the
  /// caller's thread, before any message has arrived.
  void change_route(Doorbell* doorbell, Route route, std::shared_ptr<void> keeps);

 private:
  void wait(Waiter& waiter, StatementTag const& tag);
  void poison_message() const;
  /// True once the next message is here: in shared memory, or by a transport.
  [[nodiscard]] bool has_come(MessageLine const& line) const {
    return line.filled.load(std::memory_order_acquire) > taken_ ||
           end_.memory->filled.load(std::memory_order_acquire) > taken_;
  }
  [[nodiscard]] MessageHeader header_of(MessageLine const& line) const;
  [[noreturn]] void fail_on_mismatch(MessageHeader const& header, Waiter& waiter,
                                     StatementTag const& tag) const;

  [[nodiscard]] std::int64_t slot_offset(std::uint64_t number) const {
    return static_cast<std::int64_t>(number % 2) * end_.slot_stride;
  }

  ChannelEnd end_;
  std::uint64_t taken_ = 0;
};

}  // namespace tessera
