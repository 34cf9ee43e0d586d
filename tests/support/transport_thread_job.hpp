#pragma once
/// @file
/// A job whose processes are threads of this one: for tests of what happens between processes, with
/// no launcher, and under the thread sanitizer. Its processes reach each other by local and shm.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "src/base/text.hpp"
#include "src/job/bootstrap.hpp"

namespace tessera::test {

/// What the bootstraps of such a job share.
class ThreadJob {
 public:
  /// One host, or as many processes on each host as `per_host` says.
  explicit ThreadJob(std::int64_t processes, std::int64_t per_host = 0)
      : processes_(processes),
        per_host_(per_host == 0 ? processes : per_host),
        mailboxes_(static_cast<std::size_t>(processes)) {}

  [[nodiscard]] std::unique_ptr<Bootstrap> join(std::int64_t process);

 private:
  friend class ThreadBootstrap;
  using Bytes = std::vector<std::byte>;

  /// Everybody's numbers, once all have passed one.
  std::vector<std::int64_t> all_of(std::int64_t process, std::int64_t value) {
    std::unique_lock lock(mutex_);
    auto const round = rounds_[process]++;
    auto& values = values_[round];
    values.resize(static_cast<std::size_t>(processes_));
    values[static_cast<std::size_t>(process)] = value;
    ++arrived_[round];
    changed_.notify_all();
    changed_.wait(lock, [&] { return arrived_[round] == processes_; });
    return values_[round];
  }

  std::int64_t processes_;
  std::int64_t per_host_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::int64_t, std::int64_t> rounds_;
  std::map<std::int64_t, std::int64_t> arrived_;
  std::map<std::int64_t, std::vector<std::int64_t>> values_;
  std::vector<std::deque<std::pair<ProcessId, Bytes>>> mailboxes_;
  std::atomic<std::int64_t> at_end_{0};
};

class ThreadBootstrap final : public Bootstrap {
 public:
  ThreadBootstrap(ThreadJob& job, std::int64_t process) : job_(job), process_(process) {
    auto const first = process / job.per_host_ * job.per_host_;
    auto const end = std::min(first + job.per_host_, job.processes_);
    for (auto i = first; i < end; ++i) on_host_.emplace_back(i);
  }

  [[nodiscard]] ProcessId self() const override { return ProcessId(process_); }
  [[nodiscard]] std::int64_t process_count() const override { return job_.processes_; }
  [[nodiscard]] std::span<ProcessId const> host_processes() const override { return on_host_; }
  [[nodiscard]] std::string host_name() const override { return "threads"; }
  [[nodiscard]] bool allows_threads() const override { return true; }

  void max_of_each(std::span<std::int64_t> values) override {
    for (auto& value : values) {
      auto const all = job_.all_of(process_, value);
      value = *std::max_element(all.begin(), all.end());
    }
  }
  [[nodiscard]] std::int64_t sum_before(std::int64_t value) override {
    auto const all = job_.all_of(process_, value);
    return std::accumulate(all.begin(), all.begin() + process_, std::int64_t{0});
  }
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override {
    tables_.push_back(job_.all_of(process_, value));
    return tables_.back();
  }
  [[nodiscard]] std::span<std::int64_t const> host_table(
      std::span<std::int64_t const> values) override {
    std::vector<std::int64_t> table(on_host_.size() * values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto const all = on_host(values[i]);
      for (std::size_t process = 0; process < all.size(); ++process)
        table[process * values.size() + i] = all[process];
    }
    tables_.push_back(std::move(table));
    return tables_.back();
  }
  void sum_over_host(std::span<std::int64_t> values) override {
    for (auto& value : values) {
      auto const all = on_host(value);
      value = std::accumulate(all.begin(), all.end(), std::int64_t{0});
    }
  }
  void or_over_host(std::span<std::int64_t> values) override {
    for (auto& value : values)
      for (auto const other : on_host(value)) value |= other;
  }
  void barrier() override { (void)job_.all_of(process_, 0); }
  void begin_barrier() override { job_.at_end_.fetch_add(1); }
  [[nodiscard]] bool barrier_done() override { return job_.at_end_.load() == job_.processes_; }

  void send_control(ProcessId to, std::span<std::byte const> bytes) override {
    std::lock_guard const guard(job_.mutex_);
    job_.mailboxes_[static_cast<std::size_t>(to.value())].emplace_back(
        self(), ThreadJob::Bytes(bytes.begin(), bytes.end()));
  }
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& handler) override {
    std::deque<std::pair<ProcessId, ThreadJob::Bytes>> mail;
    {
      std::lock_guard const guard(job_.mutex_);
      mail.swap(job_.mailboxes_[static_cast<std::size_t>(process_)]);
    }
    for (auto const& [from, bytes] : mail) handler(from, bytes);
  }

  [[noreturn]] void abort_job() override { throw std::logic_error("a thread cannot abort a job"); }
  void finalize() override {}

 private:
  // What the processes of this host pass, by rank.
  std::vector<std::int64_t> on_host(std::int64_t value) {
    auto const all = job_.all_of(process_, value);
    auto const first = all.begin() + on_host_.front().value();
    return {first, first + static_cast<std::ptrdiff_t>(on_host_.size())};
  }

  ThreadJob& job_;
  std::int64_t process_;
  std::vector<ProcessId> on_host_;
  std::deque<std::vector<std::int64_t>> tables_;
};

inline std::unique_ptr<Bootstrap> ThreadJob::join(std::int64_t process) {
  return std::make_unique<ThreadBootstrap>(*this, process);
}

}  // namespace tessera::test
