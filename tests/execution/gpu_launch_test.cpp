// What a kernel for CUDA is handed, told by a stream that only takes notes.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/native_launch.hpp"
#include "src/device/peers.hpp"
#include "src/device/queue.hpp"
#include "src/statement/statement.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/gpu_launch");

namespace {

class NotingStream : public Queue {
 public:
  explicit NotingStream(void* native)
      : Queue({.needs_native_kernels = native != nullptr}), native_(native) {}

  std::byte* allocate(std::int64_t) override { return nullptr; }
  void release(std::byte*) noexcept override {}
  bool owns(std::byte const*) const override { return true; }
  std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t) override { return nullptr; }
  std::shared_ptr<Queue> make_sibling() override { return nullptr; }
  bool stores_to(Queue const&) const override { return true; }
  void copy(std::byte*, std::byte const*, std::int64_t) override { notes += "copy "; }
  void copy_block(std::byte*, StridedBlock const& to, std::byte const*,
                  StridedBlock const&) override {
    notes += "copy_block ";
    copied = to;
  }
  void pack(std::byte const*, StridedBlock const&, std::int64_t, std::byte*,
            std::int64_t) override {}
  void unpack(std::byte*, StridedBlock const&, std::int64_t, std::byte const*,
              std::int64_t) override {}
  void fill(std::byte*, std::uint64_t, std::int64_t) override {}
  std::unique_ptr<GpuEvent> make_event() override { return nullptr; }
  void record(GpuEvent&) override {}
  void wait(GpuEvent const&) override {}
  bool is_idle() override { return true; }
  std::unique_ptr<GpuGraph> make_graph(std::function<void()> const&) override { return nullptr; }
  void run(GpuGraph const&) override {}
  void launch(KernelLaunch const& launch) override {
    auto const error = launch_natively(*this, launch, {native_, multiprocessors()});
    if (error == 0) return;
    throw DeviceError(text("the statement at ", launch.kernel->location, " failed with ", error));
  }
  int multiprocessors() const override { return 7; }
  GpuPeers& peers() override { throw DeviceError("it has none"); }

  std::string notes;
  StridedBlock copied;

 private:
  void* native_;
};

GpuCall last_call;
int answer = 0;

int note_call(GpuCall const& call) {
  last_call = call;
  return answer;
}

GpuLauncher const no_kernel = nullptr;
GpuLauncher const noting_kernel = note_call;

KernelForms forms_with(GpuLauncher const* gpu) {
  KernelForms forms;
  forms.gpu = gpu;
  return forms;
}

// A box of 3 times 4 cells that reads one leaf.
struct Box3x4 {
  Index first{5, 6};
  Index extents{3, 4};
  Index strides{4, 1};
  OperandView operand{nullptr, &strides};
  KernelCall call;
  KernelSource source;

  Box3x4() {
    call.first = &first;
    call.extents = &extents;
    call.operands = &operand;
    call.target_strides = &strides;
  }
  [[nodiscard]] KernelLaunch launch(KernelForms const& forms) {
    source.forms = &forms;
    KernelLaunch result;
    result.kernel = &source;
    result.box = &call;
    result.rows = 3;
    result.unit_stride = true;
    result.operand_count = 1;
    return result;
  }
};

int somewhere = 0;

}  // namespace

TEST_CASE("a kernel that a CUDA compiler made is told the box, the stream and the GPU") {
  NotingStream stream(&somewhere);
  auto const forms = forms_with(&noting_kernel);
  Box3x4 box;
  answer = 0;
  stream.launch(box.launch(forms));
  CHECK(last_call.box.extents == &box.extents);
  CHECK(last_call.operand_count == 1);
  CHECK(last_call.unit_stride);
  CHECK(last_call.stream == &somewhere);
  CHECK(last_call.multiprocessors == 7);
  CHECK(stream.notes.empty());
}

TEST_CASE("a launch that fails says where the statement stands") {
  NotingStream stream(&somewhere);
  auto const forms = forms_with(&noting_kernel);
  Box3x4 box;
  auto launch = box.launch(forms);
  box.source.location = {"/of/a/user/wave.cpp", 41};
  answer = 9;
  CHECK_THROWS_WITH_AS(stream.launch(launch), "the statement at wave.cpp:41 failed with 9",
                       DeviceError);
}

TEST_CASE("bytes are copied without a kernel of the program's") {
  NotingStream stream(&somewhere);
  for (auto const& forms : {KernelForms(), forms_with(&no_kernel)}) {
    Box3x4 box;
    auto launch = box.launch(forms);
    box.source.copied_bytes = 8;
    CHECK(can_launch(stream, forms, 8));
    stream.launch(launch);
    CHECK(std::exchange(stream.notes, {}) == "copy_block ");
    CHECK(stream_bytes(stream.copied) == 96);
  }
}

TEST_CASE("what no CUDA compiler has seen cannot be computed, but for the emulation") {
  NotingStream cuda(&somewhere);
  NotingStream emulation(nullptr);
  CHECK_FALSE(can_launch(cuda, forms_with(&no_kernel), 0));
  CHECK_FALSE(can_launch(cuda, KernelForms(), 0));
  CHECK(can_launch(cuda, forms_with(&noting_kernel), 0));
  CHECK(can_launch(emulation, forms_with(&no_kernel), 0));
}

TEST_SUITE_END();
