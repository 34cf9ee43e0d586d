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

  /// Delivers an answer, including its front, to its call; null if the call is unknown.
  Call* answer(std::span<std::byte const> bytes) {
    std::uint64_t number = 0;
    if (bytes.size() < sizeof number) return nullptr;
    std::memcpy(&number, bytes.data(), sizeof number);
    auto* const call = take(number);
    if (call == nullptr) return nullptr;
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
      call->trouble = why;
      call->is_answered = true;
    }
  }

 private:
  struct Slot {
    Call* call = nullptr;
    std::uint32_t generation = 0;
  };

  Call* take(std::uint64_t number) {
    auto const place = static_cast<std::uint32_t>(number);
    if (place >= slots_.size()) return nullptr;
    auto& slot = slots_[place];
    if (slot.call == nullptr || slot.generation != number >> 32U) return nullptr;
    free_.push_back(place);
    return std::exchange(slot.call, nullptr);
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tessera
