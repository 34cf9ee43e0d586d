#pragma once
/// @file
/// Calls as control messages: the fallback if nothing else reaches a process.

#include "src/transport/protocol/control_channel.hpp"
#include "src/transport/protocol/control_messages.hpp"
#include "src/transport/rpc/pending_calls.hpp"
#include "src/transport/rpc/remote_calls.hpp"

namespace tessera {

/// Both ends are the callers' threads: a request is served when the other thread next polls its
/// control messages, which each of its waits does.
class ControlCalls final : public Calls {
 public:
  ControlCalls(ControlChannel& control_channel, std::function<void()> poll, Serve serve)
      : control_channel_(control_channel), poll_(std::move(poll)), serve_(std::move(serve)) {}

  [[nodiscard]] std::int64_t most_bytes() const override;
  [[nodiscard]] bool needs_the_other_caller() const override { return true; }
  void begin(Call& call) override;
  bool progress() override;

  /// Throws: BadMessage for one that no caller sends.
  void on_request(ProcessId from, control::Request const& request);
  void on_reply(control::Reply const& reply);

 private:
  ControlChannel& control_channel_;
  std::function<void()> poll_;  ///< hands out control messages
  Serve serve_;
  CallSlots slots_;
  std::vector<std::byte> answer_;
  bool has_moved_ = false;
};

}  // namespace tessera
