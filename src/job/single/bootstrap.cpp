#include "src/job/bootstrap.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

#include <unistd.h>

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

/// Every collective over one process is the identity.
class SingleBootstrap final : public Bootstrap {
 public:
  [[nodiscard]] ProcessId self() const override { return self_; }
  [[nodiscard]] std::int64_t process_count() const override { return 1; }
  [[nodiscard]] std::span<ProcessId const> host_processes() const override { return {&self_, 1}; }
  [[nodiscard]] std::string host_name() const override {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
  }
  [[nodiscard]] bool allows_threads() const override { return true; }

  void max_of_each(std::span<std::int64_t> /*values*/) override {}
  [[nodiscard]] std::int64_t sum_before(std::int64_t /*value*/) override { return 0; }
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override {
    return host_table({&value, 1});
  }
  [[nodiscard]] std::span<std::int64_t const> host_table(
      std::span<std::int64_t const> values) override {
    return tables_.emplace_back(values.begin(), values.end());
  }
  void sum_over_host(std::span<std::int64_t> /*values*/) override {}
  void or_over_host(std::span<std::int64_t> /*values*/) override {}
  void barrier() override {}
  void begin_barrier() override {}
  [[nodiscard]] bool barrier_done() override { return true; }

  void send_control(ProcessId to, std::span<std::byte const> /*bytes*/) override {
    TESSERA_ASSERT(false, "a control message to process ", to, " in a job of one process");
  }
  void poll_control(
      std::function<void(ProcessId, std::span<std::byte const>)> const& /*handler*/) override {}

  [[noreturn]] void abort_job() override {
    std::fflush(nullptr);
    std::_Exit(1);
  }
  void finalize() override {}

 private:
  ProcessId self_{0};
  std::deque<std::vector<std::int64_t>> tables_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_single_bootstrap() {
  return std::make_unique<SingleBootstrap>();
}

}  // namespace tessera
