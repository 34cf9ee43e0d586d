#pragma once
/// @file
/// Control messages of one network.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <type_traits>

#include "tessera/base/ids.hpp"

#include "src/job/bootstrap.hpp"

namespace tessera {

/// The control channel: sends plain values to other processes and dispatches the values that they
/// send. Every message carries a number that all processes drew for this network, so that messages
/// of an earlier network of the job are ignored. Threads: the caller's.
class ControlChannel {
 public:
  using Handler = std::function<void(ProcessId from, std::span<std::byte const> bytes)>;

  /// A collective over the job.
  explicit ControlChannel(Bootstrap& bootstrap);

  template <class Message>
  void send(ProcessId to, Message const& message) {
    static_assert(std::is_trivially_copyable_v<Message> &&
                  sizeof(Message) + sizeof network_ <= Bootstrap::max_control_bytes);
    std::array<std::byte, sizeof(Message) + sizeof network_> bytes;
    std::memcpy(bytes.data(), &network_, sizeof network_);
    std::memcpy(bytes.data() + sizeof network_, &message, sizeof message);
    bootstrap_.send_control(to, bytes);
  }

  void poll(Handler const& handler);

 private:
  Bootstrap& bootstrap_;
  std::int64_t network_;
};

}  // namespace tessera
