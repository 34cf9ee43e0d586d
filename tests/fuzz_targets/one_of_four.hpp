#pragma once
/// @file
/// A process of a job of four, the others of which are the bytes of a target.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/job/bootstrap.hpp"

namespace tessera::fuzz {

/// Ends a wait for a message once there are no more.
class NoMoreMessages final : public Error {
 public:
  NoMoreMessages() : Error("no more messages") {}
};

/// A collective answers with what this process passes. Numbers that are drawn by chance are
/// `drawn`. There are no threads, so no sockets are open.
class OneOfFour final : public Bootstrap {
 public:
  static constexpr std::int64_t drawn = 77;
  static constexpr std::size_t most_with_silence = 32;

  /// As on one host, or on two.
  OneOfFour(std::int64_t self, bool has_two_hosts) : self_(self) {
    auto const first = has_two_hosts ? self / 2 * 2 : 0;
    auto const end = has_two_hosts ? first + 2 : process_count();
    for (auto i = first; i < end; ++i) on_host_.emplace_back(i);
  }

  [[nodiscard]] ProcessId self() const override { return self_; }
  [[nodiscard]] std::int64_t process_count() const override { return 4; }
  [[nodiscard]] std::span<ProcessId const> host_processes() const override { return on_host_; }
  [[nodiscard]] std::string host_name() const override { return "fuzz"; }
  [[nodiscard]] bool allows_threads() const override { return false; }

  void max_of_each(std::span<std::int64_t> values) override {
    constexpr std::int64_t chance = std::int64_t{1} << 40;
    for (auto& value : values)
      if (value > chance) value = drawn;
  }
  [[nodiscard]] std::int64_t sum_before(std::int64_t value) override {
    return value * self_.value();
  }
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override {
    return tables_.emplace_back(static_cast<std::size_t>(process_count()), value);
  }
  [[nodiscard]] std::span<std::int64_t const> host_table(
      std::span<std::int64_t const> values) override {
    auto& table = tables_.emplace_back();
    for (std::size_t i = 0; i < on_host_.size(); ++i)
      table.insert(table.end(), values.begin(), values.end());
    return table;
  }
  void sum_over_host(std::span<std::int64_t> values) override {
    for (auto& value : values) value *= std::ssize(on_host_);
  }
  void or_over_host(std::span<std::int64_t> /*values*/) override {}
  void barrier() override {}
  void begin_barrier() override {}
  [[nodiscard]] bool barrier_done() override { return true; }

  void send_control(ProcessId to, std::span<std::byte const> bytes) override {
    bool const is_there = to.value() >= 0 && to.value() < process_count() && to != self_;
    if (!is_there || std::ssize(bytes) > max_control_bytes)
      throw std::logic_error("a message to nobody, or too long a one");
  }
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& handler) override {
    if (messages_.empty()) throw NoMoreMessages();
    auto const message = std::move(messages_.front());
    messages_.pop_front();
    if (message) handler(message->first, message->second);
  }
  /// What `poll_control` hands out, one at each call.
  void add(ProcessId from, std::vector<std::byte> bytes) {
    messages_.emplace_back(std::pair(from, std::move(bytes)));
  }
  /// So many calls of `poll_control` find nothing. Ignored behind many others: each yields the
  /// core, which takes long on a loaded machine.
  void add_silence(std::size_t polls) {
    if (messages_.size() < most_with_silence) messages_.resize(messages_.size() + polls);
  }
  [[nodiscard]] bool has_messages() const { return !messages_.empty(); }

  [[noreturn]] void abort_job() override { throw std::logic_error("the job was aborted"); }
  void finalize() override {}

 private:
  ProcessId self_;
  std::vector<ProcessId> on_host_;
  std::deque<std::vector<std::int64_t>> tables_;
  std::deque<std::optional<std::pair<ProcessId, std::vector<std::byte>>>> messages_;
};

}  // namespace tessera::fuzz
