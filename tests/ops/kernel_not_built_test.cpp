// Statements that no CUDA compiler has seen, on a device that takes kernels of CUDA alone.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/dist_array.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/device/cuda/driver.hpp"
#include "src/device/driver.hpp"
#include "src/device/peers.hpp"
#include "src/job/bootstrap.hpp"
#include "src/network/network.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/local_devices.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("ops/kernel_not_built");

namespace {

// An emulated stream that says it was CUDA's.
class AsCuda : public Queue {
 public:
  explicit AsCuda(std::shared_ptr<Queue> stream)
      : Queue({.needs_native_kernels = true, .how_to_have_kernels = how_to_have_cuda_kernels}),
        stream_(std::move(stream)) {}

  std::byte* allocate(std::int64_t size_bytes) override { return stream_->allocate(size_bytes); }
  void release(std::byte* memory) noexcept override { stream_->release(memory); }
  bool owns(std::byte const* address) const override { return stream_->owns(address); }
  std::shared_ptr<Queue> make_sibling() override { return stream_->make_sibling(); }
  bool stores_to(Queue const& other) const override { return stream_->stores_to(other); }
  std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t size_bytes) override {
    return stream_->make_pinned(size_bytes);
  }
  void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) override {
    stream_->copy(to, from, size_bytes);
  }
  void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) override {
    stream_->copy_block(to_base, to, from_base, from);
  }
  void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
            std::byte* to, std::int64_t size_bytes) override {
    stream_->pack(base, block, first_byte, to, size_bytes);
  }
  void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
              std::byte const* from, std::int64_t size_bytes) override {
    stream_->unpack(base, block, first_byte, from, size_bytes);
  }
  void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) override {
    stream_->fill(to, pattern, size_bytes);
  }
  std::unique_ptr<GpuEvent> make_event() override { return stream_->make_event(); }
  void record(GpuEvent& event) override { stream_->record(event); }
  void wait(GpuEvent const& event) override { stream_->wait(event); }
  bool is_idle() override { return stream_->is_idle(); }
  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const& bring) override {
    return stream_->make_graph(bring);
  }
  void run(GpuGraph const& graph) override { stream_->run(graph); }
  void launch(KernelLaunch const& launch) override { stream_->launch(launch); }
  int multiprocessors() const override { return stream_->multiprocessors(); }
  GpuPeers& peers() override { return stream_->peers(); }

 private:
  std::shared_ptr<Queue> stream_;
};

// In place of the program's own engine: a job of one process and one device.
class OtherEngine {
 public:
  OtherEngine()
      : before_(&engine()),
        bootstrap_(make_single_bootstrap()),
        driver_(make_emulated_driver()),
        engine_(*bootstrap_,
                {1, DeviceKind::cuda, {std::make_shared<AsCuda>(driver_->make_queue(0))}, {}}, {}) {
    detail::set_engine(&engine_);
  }
  ~OtherEngine() { detail::set_engine(before_); }
  OtherEngine(OtherEngine const&) = delete;
  OtherEngine& operator=(OtherEngine const&) = delete;

 private:
  Engine* before_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<DeviceDriver> driver_;
  Engine engine_;
};

template <class F>
std::string words_of(F const& f) {
  try {
    f();
  } catch (KernelNotBuilt const& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE(
    "a statement that no CUDA compiler has seen is refused where it stands, and does nothing") {
  OtherEngine const other;
  NamedSharding const rows(Mesh({{"x", 1}}), P("x"));
  auto u = full<double>({10}, 2.5, rows);
  auto const has = [](std::string const& words, std::string_view part) {
    return words.find(part) != std::string::npos;
  };

  auto const assigned = words_of([&] { u(range(0, 9)) = 0.5 * u(range(1, 10)); });
  CHECK(has(assigned, "kernel_not_built_test.cpp"));
  CHECK(has(assigned, "tessera_compile_as_cuda"));
  CHECK(has(words_of([&] { (void)double(sum(u)); }), "no kernel for GPUs"));
  CHECK(has(words_of([&] { auto const cells = sum(u, axis(0)); }), "no kernel for GPUs"));

  // Copies need none, and the program goes on.
  auto v = zeros<double>({10}, rows);
  v(range(2, 5)) = u(range(0, 3));
  CHECK(v.to_host() == std::vector<double>{0, 0, 2.5, 2.5, 2.5, 0, 0, 0, 0, 0});
  CHECK(u.to_host() == std::vector<double>(10, 2.5));
}

TEST_SUITE_END();
