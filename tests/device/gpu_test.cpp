// What the seam promises, of every driver that this machine has: always the emulation, and CUDA
// where there is a GPU.
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/device_memory.hpp"
#include "src/device/driver.hpp"
#include "src/device/emulated/queue.hpp"

#include "support/gpus.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/gpu");

namespace {

using Numbers = std::vector<std::int32_t>;

Numbers counted(std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

std::int64_t bytes_in(Numbers const& numbers) {
  return std::ssize(numbers) * std::int64_t{sizeof(std::int32_t)};
}
std::byte const* bytes_of(Numbers const& numbers) {
  return reinterpret_cast<std::byte const*>(numbers.data());
}
std::byte* bytes_of(Numbers& numbers) {
  return reinterpret_cast<std::byte*>(numbers.data());
}

// The numbers are looked at later.
DeviceMemory brought_to_gpu(Numbers const& numbers, std::shared_ptr<Queue> const& stream) {
  DeviceMemory memory(bytes_in(numbers), stream);
  stream->copy(memory.data(), bytes_of(numbers), bytes_in(numbers));
  return memory;
}
DeviceMemory on_gpu(Numbers const& numbers, std::shared_ptr<Queue> const& stream) {
  auto memory = brought_to_gpu(numbers, stream);
  wait_for(*stream);
  return memory;
}

// Waits for all work of the stream.
Numbers on_host(DeviceMemory const& memory, Queue& stream) {
  Numbers numbers(static_cast<std::size_t>(memory.size_bytes()) / sizeof(std::int32_t));
  stream.copy(bytes_of(numbers), memory.data(), memory.size_bytes());
  wait_for(stream);
  return numbers;
}

// Every other of 3 numbers, in each of 2 rows of 8.
StridedBlock const block{{2, 3}, {32, 8}, 4, 4};
Numbers const numbers_of_block{2, 4, 6, 10, 12, 14};

}  // namespace

TEST_CASE("numbers go to a GPU and come back") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const stream = driver->make_queue(0);
    auto const numbers = counted(1000);
    auto const first = on_gpu(numbers, stream);
    DeviceMemory const second(first.size_bytes(), stream);
    stream->copy(const_cast<std::byte*>(second.data()), first.data(), first.size_bytes());
    CHECK(on_host(second, *stream) == numbers);
    CHECK(stream->is_idle());
    CHECK(driver->count() >= 1);
    CHECK_FALSE(driver->facts(0).name.empty());
  }
}

TEST_CASE("blocks are copied, packed and unpacked as on the host") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const stream = driver->make_queue(0);
    auto const from = on_gpu(counted(16), stream);

    auto copy = on_gpu(Numbers(16, 0), stream);
    stream->copy_block(copy.data(), block, from.data(), block);
    Numbers expected(16, 0);
    for (auto const i : {1U, 3U, 5U, 9U, 11U, 13U}) expected[i] = static_cast<std::int32_t>(i) + 1;
    CHECK(on_host(copy, *stream) == expected);

    auto dense = on_gpu(Numbers(6, 0), stream);
    stream->pack(from.data(), block, 0, dense.data(), 24);
    CHECK(on_host(dense, *stream) == numbers_of_block);
    // From the middle of a row on.
    stream->pack(from.data(), block, 8, dense.data(), 12);
    CHECK(on_host(dense, *stream) == Numbers{6, 10, 12, 10, 12, 14});

    auto back = on_gpu(Numbers(16, 0), stream);
    auto const given = on_gpu(numbers_of_block, stream);
    stream->unpack(back.data(), block, 0, given.data(), 24);
    CHECK(on_host(back, *stream) == expected);
    stream->unpack(back.data(), block, 12, given.data(), 8);
    expected[9] = 2;
    expected[11] = 4;
    CHECK(on_host(back, *stream) == expected);
  }
}

TEST_CASE("a pattern fills memory") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const stream = driver->make_queue(0);
    auto memory = on_gpu(Numbers(6, 0), stream);
    stream->fill(memory.data() + 8, (std::uint64_t{5} << 32) + 4, 8);
    CHECK(on_host(memory, *stream) == Numbers{0, 0, 4, 5, 0, 0});
  }
}

TEST_CASE("a stream that waits for an event sees what another one wrote before it") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const writer = driver->make_queue(0);
    auto const reader = driver->make_queue(0);
    auto const event = writer->make_event();
    CHECK(event->has_passed());
    for (int round = 0; round < 20; ++round) {
      Numbers const numbers(1000, round);
      auto const memory = brought_to_gpu(numbers, writer);
      writer->record(*event);
      reader->wait(*event);
      CHECK(on_host(memory, *reader) == numbers);
      CHECK(event->has_passed());
    }
  }
}

TEST_CASE("memory is given back after the work that uses it") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const stream = driver->make_queue(0);
    auto const numbers = counted(500);
    Numbers result(500, 0);
    {
      auto const memory = brought_to_gpu(numbers, stream);
      stream->copy(bytes_of(result), memory.data(), memory.size_bytes());
    }
    Numbers const others(500, -1);
    auto const other = brought_to_gpu(others, stream);
    wait_for(*stream);
    CHECK(result == numbers);
  }
}

TEST_CASE("a GPU knows its memory, and refuses to give more than it has") {
  for (auto const& driver : test::drivers_with_gpus()) {
    CAPTURE(to_string(driver->kind()));
    auto const stream = driver->make_queue(0);
    auto const memory = on_gpu(counted(10), stream);
    Numbers const on_the_host(10);
    CHECK(stream->owns(memory.data()));
    CHECK_FALSE(stream->owns(bytes_of(on_the_host)));
    CHECK_THROWS_AS((void)stream->allocate(std::int64_t{1} << 50), DeviceError);
    CHECK(DeviceMemory(0, stream).data() == nullptr);
  }
}

TEST_CASE("an emulated GPU takes back what was released before it refuses memory") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  constexpr std::int64_t most = std::int64_t{20} << 30;  // of 32 GiB, none of which is touched
  for (int round = 0; round < 3; ++round) CHECK_NOTHROW(stream->release(stream->allocate(most)));
  wait_for(*stream);
}

TEST_CASE("the host cannot touch the memory of an emulated GPU") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  auto const memory = on_gpu(counted(10), stream);
  CHECK_FALSE(test::host_can_read(memory.data()));
  CHECK(test::host_can_read(bytes_of(numbers_of_block)));
}

TEST_CASE("an emulated GPU does nothing before it is asked") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  bool is_done = false;
  emulated::queue_of(*stream).defer([&] { is_done = true; });
  ::usleep(2000);
  CHECK_FALSE(is_done);
  wait_for(*stream);
  CHECK(is_done);
}

TEST_CASE("what goes wrong on an emulated GPU is thrown by the next call") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  auto const event = stream->make_event();
  emulated::queue_of(*stream).defer([] { throw DeviceError("it burns"); });
  stream->record(*event);
  for (bool has_failed = false; !has_failed; ::usleep(100)) try {
      has_failed = event->has_passed();
    } catch (DeviceError const&) {
      has_failed = true;
    }
  CHECK_THROWS_WITH_AS((void)event->has_passed(), "it burns", DeviceError);
  CHECK_THROWS_WITH_AS((void)stream->is_idle(), "it burns", DeviceError);
}

TEST_SUITE_END();
