#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/device/gpu.hpp"

using namespace tessera;

// What every driver of GPUs has to do. The emulated GPU is always there; CUDA's where a machine has
// one.

TEST_SUITE_BEGIN("device/gpu_contract");

namespace {

std::vector<std::unique_ptr<GpuDriver>> drivers_with_gpus() {
  std::vector<std::unique_ptr<GpuDriver>> drivers;
  drivers.push_back(make_emulated_driver());
  if (has_cuda_driver()) {
    auto cuda = make_cuda_driver();
    if (cuda->count() > 0)
      drivers.push_back(std::move(cuda));
    else
      MESSAGE("CUDA shows no GPU: only the emulated one is tested");
  }
  return drivers;
}

/// Calls body(driver) for all of them.
template <class Body>
void for_each_driver(Body const& body) {
  for (auto const& driver : drivers_with_gpus()) {
    std::string const name(driver->name());
    CAPTURE(name);
    body(*driver);
  }
}

void finish(GpuStream& stream) {
  while (!stream.is_idle()) std::this_thread::yield();
}

std::vector<std::int32_t> numbers(std::size_t count) {
  std::vector<std::int32_t> result(count);
  std::iota(result.begin(), result.end(), 1);
  return result;
}

template <class T>
std::byte* bytes_of(std::vector<T>& items) {
  return reinterpret_cast<std::byte*>(items.data());
}
template <class T>
std::int64_t size_of(std::vector<T> const& items) {
  return static_cast<std::int64_t>(items.size() * sizeof(T));
}

/// The items on the GPU.
std::byte* sent(GpuStream& stream, std::vector<std::int32_t>& items) {
  auto* const memory = stream.allocate(size_of(items));
  stream.copy(memory, bytes_of(items), size_of(items));
  return memory;
}

std::vector<std::int32_t> fetched(GpuStream& stream, std::byte const* memory, std::size_t count) {
  std::vector<std::int32_t> items(count, -1);
  stream.copy(bytes_of(items), memory, size_of(items));
  finish(stream);
  return items;
}

/// Columns 1 and 2 of a matrix of 3 rows and 4 columns.
StridedBlock two_columns() {
  return {{3, 2}, {16, 4}, 4, 4};
}

}  // namespace

TEST_CASE("a driver shows its GPUs") {
  for_each_driver([](GpuDriver& driver) {
    for (int gpu = 0; gpu < driver.count(); ++gpu) {
      CHECK(!driver.facts(gpu).name.empty());
      CHECK(driver.facts(gpu).multiprocessors > 0);
      CHECK(driver.make_stream(gpu)->multiprocessors() > 0);
    }
  });
}

TEST_CASE("what is copied to a GPU and on is copied back, in order") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);
    auto items = numbers(1000);
    auto* const first = sent(*stream, items);
    auto* const second = stream->allocate(size_of(items));

    stream->copy(second, first, size_of(items));
    stream->release(first);

    CHECK(fetched(*stream, second, items.size()) == items);
    stream->release(second);
  });
}

TEST_CASE("memory of a GPU is aligned, and none is somebody else's") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);
    std::vector<std::byte*> all;
    for (std::int64_t const size : {0, 1, 100, 256, 10'000}) all.push_back(stream->allocate(size));

    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(reinterpret_cast<std::uintptr_t>(all[i]) % 256 == 0);
      for (std::size_t j = 0; j < i; ++j) CHECK(all[i] != all[j]);
    }
    int on_host = 0;
    CHECK(stream->owns(all.back()));
    CHECK_FALSE(stream->owns(reinterpret_cast<std::byte const*>(&on_host)));
    for (auto* const memory : all) stream->release(memory);
  });
}

TEST_CASE("a GPU packs and unpacks pieces of a block") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);
    auto matrix = numbers(12);
    auto* const memory = sent(*stream, matrix);
    auto* const packed = stream->allocate(16);
    std::vector<std::int32_t> zeros(12, 0);
    auto* const other = sent(*stream, zeros);

    stream->pack(memory, two_columns(), 4, packed, 16);
    stream->unpack(other, two_columns(), 4, packed, 16);

    CHECK(fetched(*stream, packed, 4) == std::vector<std::int32_t>{3, 6, 7, 10});
    CHECK(fetched(*stream, other, 12) ==
          std::vector<std::int32_t>{0, 0, 3, 0, 0, 6, 7, 0, 0, 10, 0, 0});
  });
}

TEST_CASE("a GPU copies blocks and fills memory") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);
    auto matrix = numbers(12);
    auto* const memory = sent(*stream, matrix);
    auto* const filled = stream->allocate(32);

    stream->fill(filled, 0x0000'0007'0000'0007, 32);
    StridedBlock const turned{{3, 2}, {4, 12}, 4, 4};
    stream->copy_block(filled, turned, memory, two_columns());

    CHECK(fetched(*stream, filled, 8) == std::vector<std::int32_t>{7, 2, 6, 10, 3, 7, 11, 7});
  });
}

TEST_CASE("a stream waits for an event of another one") {
  for_each_driver([](GpuDriver& driver) {
    auto const writer = driver.make_stream(0);
    auto const reader = driver.make_stream(0);
    auto items = numbers(100'000);
    auto const event = writer->make_event();
    CHECK(event->has_passed());  // never recorded

    auto* const memory = sent(*writer, items);
    writer->record(*event);
    reader->wait(*event);

    CHECK(fetched(*reader, memory, items.size()) == items);
    CHECK(event->has_passed());
    writer->release(memory);
  });
}

TEST_CASE("an event may go before it has passed, and a stream with work before it") {
  for_each_driver([](GpuDriver& driver) {
    auto items = numbers(100'000);
    std::vector<std::int32_t> back(items.size(), -1);
    {
      auto const stream = driver.make_stream(0);
      auto* const memory = sent(*stream, items);
      auto event = stream->make_event();
      stream->record(*event);
      stream->wait(*event);
      event = nullptr;
      stream->copy(bytes_of(back), memory, size_of(back));
      stream->release(memory);
    }

    CHECK(back == items);
  });
}

TEST_CASE("memory is released by any thread") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);
    auto items = numbers(100);
    auto* const memory = sent(*stream, items);

    std::thread([&] { stream->release(memory); }).join();
    auto* const again = sent(*stream, items);

    CHECK(fetched(*stream, again, items.size()) == items);
  });
}

TEST_CASE("more memory than there is gives an error that says how much") {
  for_each_driver([](GpuDriver& driver) {
    auto const stream = driver.make_stream(0);

    CHECK_THROWS_AS((void)stream->allocate(std::int64_t{1} << 60), DeviceError);
    CHECK(stream->is_idle());  // and is forgotten
  });
}

TEST_CASE("without a GPU the driver of CUDA shows none, and says so to who asks") {
  if (!has_cuda_driver()) {
    CHECK_THROWS_AS((void)make_cuda_driver(), BackendNotBuilt);
    return;
  }
  auto const driver = make_cuda_driver();
  CHECK(driver->name() == "cuda");
  if (driver->count() > 0) return;

  CHECK_THROWS_AS((void)driver->facts(0), DeviceError);
  CHECK_THROWS_AS((void)driver->make_stream(0), DeviceError);
}

TEST_SUITE_END();
