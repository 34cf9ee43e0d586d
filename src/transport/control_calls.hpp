#pragma once
/// @file
/// Calls as control messages: where nothing else reaches a process.

#include "tessera/transport/calls.hpp"

#include "call_slots.hpp"
#include "control.hpp"
#include "postbox.hpp"

namespace tessera {

/// Both ends are the callers' threads: a request is served when the other one next looks at its
/// control messages, which each of its waits does.
class ControlCalls final : public Calls {
 public:
  ControlCalls(Postbox& postbox, std::function<void()> poll, Serve serve)
      : postbox_(postbox), poll_(std::move(poll)), serve_(std::move(serve)) {}

  [[nodiscard]] std::int64_t most_bytes() const override;
  [[nodiscard]] bool needs_the_other_caller() const override { return true; }
  void begin(Call& call) override;
  bool progress() override;

  void on_request(ProcessId from, control::Request const& request);
  void on_reply(control::Reply const& reply);

 private:
  Postbox& postbox_;
  std::function<void()> poll_;  ///< hands out control messages
  Serve serve_;
  CallSlots slots_;
  std::vector<std::byte> answer_;
  bool has_moved_ = false;
};

}  // namespace tessera
