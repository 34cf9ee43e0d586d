// The queue of the host, and what all queues promise about their traits.
#include "src/device/queue.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/device/driver.hpp"
#include "src/device/host/launch.hpp"
#include "src/device/kernel_launch.hpp"
#include "src/device/native_launch.hpp"
#include "src/statement/statement.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/queue");

namespace {

using Numbers = std::vector<std::int64_t>;

std::byte* bytes_of(Numbers& numbers) {
  return reinterpret_cast<std::byte*>(numbers.data());
}

// Every second of four numbers.
StridedBlock const every_second{{2}, {16}, 0, 8};
StridedBlock const two_together{{2}, {8}, 0, 8};

struct Calls {
  int unit = 0;
  int any = 0;
  int non_temporal = 0;
  std::int64_t rows = 0;
};
Calls calls;

void unit_form(void const*, std::int64_t first, std::int64_t last) {
  ++calls.unit;
  calls.rows += last - first;
}
void any_form(void const*, std::int64_t first, std::int64_t last) {
  ++calls.any;
  calls.rows += last - first;
}
void non_temporal_form(void const*, std::int64_t first, std::int64_t last) {
  ++calls.non_temporal;
  calls.rows += last - first;
}

KernelForms const all_forms{unit_form, any_form, non_temporal_form, nullptr};

Calls launched(KernelForms const& forms, bool unit_stride, bool non_temporal, bool is_whole) {
  calls = {};
  KernelCall const call;
  KernelSource const source{.forms = &forms};
  host_queue().launch({.kernel = &source,
                       .box = &call,
                       .rows = 6,
                       .unit_stride = unit_stride,
                       .non_temporal = non_temporal,
                       .is_whole = is_whole});
  return calls;
}

}  // namespace

TEST_CASE("the host does work at once, in memory that it reaches, with kernels of its own") {
  auto const& traits = host_queue().traits();
  CHECK(traits.is_eager);
  CHECK(traits.host_reaches_memory);
  CHECK_FALSE(traits.needs_native_kernels);
  CHECK(host_queue().is_idle());
}

TEST_CASE("an emulated GPU is neither eager nor reached by the host") {
  auto const driver = make_emulated_driver();
  auto const traits = driver->make_queue(0)->traits();
  CHECK_FALSE(traits.is_eager);
  CHECK_FALSE(traits.host_reaches_memory);
  CHECK_FALSE(traits.needs_native_kernels);
}

TEST_CASE("memory of the host is aligned, owned and written") {
  auto& queue = host_queue();
  auto* const memory = queue.allocate(24);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
  CHECK(queue.owns(memory));
  queue.fill(memory, 0x0102030405060708ULL, 24);
  CHECK(memory[0] == memory[16]);
  CHECK(memory[8] == std::byte{8});
  queue.release(memory);
  CHECK(queue.make_pinned(100)->size_bytes() == 100);
}

TEST_CASE("blocks are copied, packed and unpacked before the call returns") {
  auto& queue = host_queue();
  Numbers from{1, 2, 3, 4};
  Numbers to(4);
  queue.copy(bytes_of(to), bytes_of(from), 16);
  CHECK(to == Numbers{1, 2, 0, 0});

  queue.copy_block(bytes_of(to), two_together, bytes_of(from), every_second);
  CHECK(to == Numbers{1, 3, 0, 0});
  queue.copy_block_non_temporal(bytes_of(to), every_second, bytes_of(from), two_together);
  CHECK(to == Numbers{1, 3, 2, 0});

  queue.pack(bytes_of(from), every_second, 8, bytes_of(to), 8);
  CHECK(to == Numbers{3, 3, 2, 0});
  queue.unpack(bytes_of(to), every_second, 0, bytes_of(from), 16);
  CHECK(to == Numbers{1, 3, 2, 0});
}

TEST_CASE("events of the host have passed when they are recorded") {
  auto& queue = host_queue();
  auto const event = queue.make_event();
  CHECK(event->has_passed());
  queue.record(*event);
  queue.wait(*event);
  CHECK(event->has_passed());
}

TEST_CASE("the host takes the form of a kernel that suits strides and caches") {
  CHECK(launched(all_forms, true, false, false).unit == 1);
  CHECK(launched(all_forms, false, false, false).any == 1);
  CHECK(launched(all_forms, true, true, false).non_temporal == 1);
  KernelForms const without{unit_form, any_form};
  CHECK(launched(without, true, true, false).unit == 1);
}

TEST_CASE("all rows are computed, by one call where the kernel asks for it") {
  CHECK(launched(all_forms, true, false, false).rows == 6);
  auto const whole = launched(all_forms, true, false, true);
  CHECK(whole.rows == 6);
  CHECK(whole.unit == 1);
}

TEST_CASE("the host shares no memory by handles, and records no graphs") {
  auto& queue = host_queue();
  CHECK_THROWS_AS((void)queue.peers(), DeviceError);
  CHECK_THROWS_AS((void)queue.make_graph([] {}), DeviceError);
  CHECK(queue.stores_to(*queue.make_sibling()));
  auto const driver = make_emulated_driver();
  CHECK_FALSE(queue.stores_to(*driver->make_queue(0)));
}

TEST_CASE("the host computes every statement, whatever a compiler for GPUs has made") {
  CHECK(can_launch(host_queue(), KernelForms{unit_form, any_form}, 0));
}

TEST_CASE("a launch without rows calls nothing") {
  KernelForms const forms;
  KernelSource const source{.forms = &forms};
  KernelCall const call;
  CHECK(launch_natively(host_queue(), {.kernel = &source, .box = &call}, {}) == 0);
}

TEST_SUITE_END();
