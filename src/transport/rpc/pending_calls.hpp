#pragma once
/// @file
/// Finds the call that an answer belongs to.

#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// The calls under way, by numbers that travel in front of request and answer; an answer to an
/// abandoned call is dropped. Allocates only if more calls are under way than ever before.
class CallSlots {
 public:
  /// Writes the call's number in front of its request.
  void add(Call& call) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    auto const place = free_.back();
    free_.pop_back();
    auto& slot = slots_[place];
    slot.call = &call;
    auto const number = std::uint64_t{++slot.generation} << 32U | place;
    std::memcpy(call.request.data(), &number, sizeof number);
  }

  /// The call under way that an answer, including its front, names; null if there is none.
  [[nodiscard]] Call* find(std::span<std::byte const> bytes) const {
    auto const* const slot = slot_of(bytes);
    return slot == nullptr ? nullptr : slot->call;
  }

  /// Delivers an answer, including its front, to its call; null if the call is unknown.
  Call* answer(std::span<std::byte const> bytes) {
    auto const* const slot = slot_of(bytes);
    if (slot == nullptr) return nullptr;
    auto const place = static_cast<std::size_t>(slot - slots_.data());
    free_.push_back(static_cast<std::uint32_t>(place));
    auto* const call = std::exchange(slots_[place].call, nullptr);
    call->answer.assign(bytes.begin(), bytes.end());
    call->is_answered = true;
    return call;
  }

  /// Ends all calls to a process without an answer.
  void fail(ProcessId process, std::string const& why) {
    for (std::size_t place = 0; place < slots_.size(); ++place) {
      auto* const call = slots_[place].call;
      if (call == nullptr || call->to != process) continue;
      slots_[place].call = nullptr;
      free_.push_back(static_cast<std::uint32_t>(place));
      call->reason = why;
      call->is_answered = true;
    }
  }

 private:
  struct Slot {
    Call* call = nullptr;
    std::uint32_t generation = 0;
  };

  // Null if no call of this number is under way.
  [[nodiscard]] Slot const* slot_of(std::span<std::byte const> bytes) const {
    std::uint64_t number = 0;
    if (bytes.size() < sizeof number) return nullptr;
    std::memcpy(&number, bytes.data(), sizeof number);
    auto const place = static_cast<std::uint32_t>(number);
    if (place >= slots_.size()) return nullptr;
    auto const& slot = slots_[place];
    return slot.call == nullptr || slot.generation != number >> 32U ? nullptr : &slot;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tessera
