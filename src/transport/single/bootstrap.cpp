#include "tessera/transport/bootstrap.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "tessera/base/assert.hpp"

namespace tessera {
namespace {

/// Every collective over one process is the identity.
class SingleBootstrap final : public Bootstrap {
 public:
  [[nodiscard]] ProcessId self() const override { return ProcessId(0); }
  [[nodiscard]] std::int64_t process_count() const override { return 1; }
  [[nodiscard]] std::vector<ProcessId> const& host_processes() const override { return host_; }
  [[nodiscard]] std::string host_name() const override {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
  }
  [[nodiscard]] bool allows_threads() const override { return true; }

  [[nodiscard]] std::int64_t max_of(std::int64_t value) override { return value; }
  [[nodiscard]] std::int64_t sum_before(std::int64_t /*value*/) override { return 0; }
  [[nodiscard]] std::span<std::int64_t const> table_of(std::int64_t value) override {
    tables_.push_back(std::make_unique<std::int64_t>(value));
    return {tables_.back().get(), 1};
  }
  [[nodiscard]] std::vector<std::int64_t> host_values(std::int64_t value) override {
    return {value};
  }
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
  std::vector<ProcessId> host_{ProcessId(0)};
  std::vector<std::unique_ptr<std::int64_t>> tables_;
};

}  // namespace

std::unique_ptr<Bootstrap> make_single_bootstrap() {
  return std::make_unique<SingleBootstrap>();
}

}  // namespace tessera
