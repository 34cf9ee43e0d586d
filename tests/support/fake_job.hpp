#pragma once
/// @file
/// A job whose processes are plain objects of one thread: nothing happens until the test says so.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/ids.hpp"

#include "src/job/bootstrap.hpp"

namespace tessera::test {

class FakeJob;

/// One process of a FakeJob. A collective does not wait: it answers what the first process that
/// came to it passed, which is right wherever all pass the same.
class FakeBootstrap final : public Bootstrap {
 public:
  FakeBootstrap(FakeJob& job, std::int64_t process);

  [[nodiscard]] ProcessId self() const override { return self_; }
  [[nodiscard]] std::int64_t process_count() const override;
  [[nodiscard]] std::span<ProcessId const> host_processes() const override { return on_host_; }
  [[nodiscard]] std::string host_name() const override { return "fake"; }
  [[nodiscard]] bool allows_threads() const override { return allows_threads_; }
  void forbid_threads() { allows_threads_ = false; }

  void max_of_each(std::span<std::int64_t> values) override;
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
    for (auto& value : values) value *= static_cast<std::int64_t>(on_host_.size());
  }
  void or_over_host(std::span<std::int64_t> /*values*/) override {}
  void barrier() override {}
  void begin_barrier() override {}
  [[nodiscard]] bool barrier_done() override { return true; }

  void send_control(ProcessId to, std::span<std::byte const> bytes) override;
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& handler) override;

  [[noreturn]] void abort_job() override { throw std::logic_error("a fake job is not aborted"); }
  void finalize() override {}

 private:
  FakeJob& job_;
  ProcessId self_;
  bool allows_threads_ = true;
  std::vector<ProcessId> on_host_;
  std::size_t round_ = 0;
  std::deque<std::vector<std::int64_t>> tables_;
};

class FakeJob {
 public:
  /// One host, or as many processes on each host as `per_host` says.
  explicit FakeJob(std::int64_t processes, std::int64_t per_host = 0)
      : per_host_(per_host == 0 ? processes : per_host),
        mailboxes_(static_cast<std::size_t>(processes)) {
    for (std::int64_t i = 0; i < processes; ++i)
      processes_.push_back(std::make_unique<FakeBootstrap>(*this, i));
  }

  [[nodiscard]] FakeBootstrap& operator[](std::size_t process) { return *processes_[process]; }
  /// Control messages that nobody has taken yet.
  [[nodiscard]] std::size_t messages_for(std::size_t process) const {
    return mailboxes_[process].size();
  }

 private:
  friend class FakeBootstrap;
  using Message = std::pair<ProcessId, std::vector<std::byte>>;

  std::int64_t per_host_;
  std::vector<std::deque<Message>> mailboxes_;
  std::vector<std::vector<std::int64_t>> rounds_;  ///< what the first process passed in each
  std::vector<std::unique_ptr<FakeBootstrap>> processes_;
};

inline FakeBootstrap::FakeBootstrap(FakeJob& job, std::int64_t process)
    : job_(job), self_(process) {
  auto const first = process / job.per_host_ * job.per_host_;
  auto const end = std::min(first + job.per_host_, process_count());
  for (auto i = first; i < end; ++i) on_host_.emplace_back(i);
}

inline std::int64_t FakeBootstrap::process_count() const {
  return static_cast<std::int64_t>(job_.mailboxes_.size());
}

inline void FakeBootstrap::max_of_each(std::span<std::int64_t> values) {
  auto const round = round_++;
  if (round == job_.rounds_.size()) job_.rounds_.emplace_back(values.begin(), values.end());
  std::copy(job_.rounds_[round].begin(), job_.rounds_[round].end(), values.begin());
}

inline void FakeBootstrap::send_control(ProcessId to, std::span<std::byte const> bytes) {
  job_.mailboxes_[static_cast<std::size_t>(to.value())].emplace_back(
      self_, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

inline void FakeBootstrap::poll_control(
    std::function<void(ProcessId, std::span<std::byte const>)> const& handler) {
  auto mail = std::exchange(job_.mailboxes_[static_cast<std::size_t>(self_.value())], {});
  for (auto const& [from, bytes] : mail) handler(from, bytes);
}

}  // namespace tessera::test
