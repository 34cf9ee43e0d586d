#pragma once
/// @file
/// One end of a channel whose ends share no memory: tracks which messages must be passed to the
/// carrier, and which have completed.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/transport/channel/channel.hpp"

namespace tessera {

/// Message n uses slot and request n % 2; requests may end out of order, so the counter moves only
/// past those that have all ended.
///
/// The thread that drives the device moves one of the counters of `end.memory` and rings; the
/// caller's thread compares it with what it has posted, and moves the other.
class Port final : public Doorbell {
 public:
  /// `rung` counts the calls of `ring` of all ports of a transport.
  Port(ChannelEnd const& end, bool sends, std::atomic<std::uint64_t>& rung)
      : memory_(*end.memory),
        slots_(end.slots),
        stride_(end.slot_stride),
        keeps_(end.keeps),
        sends_(sends),
        rung_(rung) {}

  void ring() override { rung_.fetch_add(1, std::memory_order_release); }

  [[nodiscard]] bool sends() const { return sends_; }

  /// True if a message or a free slot has not been given to the carrier yet, or a send has not
  /// ended.
  [[nodiscard]] bool has_pending() const {
    return posted_ < allowed() || (sends_ && ended_ < posted_);
  }

  /// Calls `start(bytes, place, confirmed)` for each message to send, or each slot that may be
  /// received into; `place` is 0 or 1. A send that is `confirmed` ends when its receive has begun,
  /// another one as soon as its slot may be written again.
  template <class Start>
  void post(Start const& start) {
    for (auto const allowed_now = allowed(); posted_ < allowed_now;) {
      auto const number = posted_++;  // it may end before start returns
      auto const place = static_cast<std::size_t>(number % 2);
      auto* const slot = slots_ + static_cast<std::int64_t>(place) * stride_;
      if (sends_)
        start(std::span(slot, static_cast<std::size_t>(bytes_to_send(slot))), place,
              is_confirmed(number, header_of(slot).size_bytes));
      else
        start(std::span(slot, static_cast<std::size_t>(stride_)), place, false);
    }
  }

  /// What was started with `place` has ended.
  void end_one(std::size_t place) {
    is_ended_[place] = true;
    while (ended_ < posted_ && is_ended_[ended_ % 2]) is_ended_[ended_++ % 2] = false;
    (sends_ ? memory_.drained : memory_.filled).store(ended_, std::memory_order_release);
  }

 private:
  static std::int64_t bytes_to_send(std::byte const* slot) {
    auto const& header = header_of(slot);
    return static_cast<std::int64_t>(sizeof header) + static_cast<std::int64_t>(header.size_bytes);
  }
  static MessageHeader const& header_of(std::byte const* slot) {
    return *reinterpret_cast<MessageHeader const*>(slot);
  }

  /// The number of requests that may have been started: a send for each message put, a receive for
  /// each message read and two ahead.
  [[nodiscard]] std::uint64_t allowed() const {
    return sends_ ? memory_.filled.load(std::memory_order_acquire)
                  : memory_.drained.load(std::memory_order_acquire) + 2;
  }

  ChannelMemory& memory_;
  std::byte* slots_;
  std::int64_t stride_;
  std::shared_ptr<void> keeps_;
  bool sends_;
  std::atomic<std::uint64_t>& rung_;
  std::uint64_t posted_ = 0;
  std::uint64_t ended_ = 0;
  std::array<bool, 2> is_ended_{};
};

}  // namespace tessera
