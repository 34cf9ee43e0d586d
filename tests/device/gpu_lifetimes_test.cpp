#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/device/cuda/driver.hpp"

#include "support/gpus.hpp"
#include "support/left_out.hpp"

using namespace tessera;

// Whose memory, events and streams of GPUs are, and for how long. The emulated GPU is always there;
// CUDA's where a machine has one.

TEST_SUITE_BEGIN("device/gpu_lifetimes");

namespace {

/// Calls body(driver) for all of them.
template <class Body>
void for_each_driver(Body const& body) {
  for (auto const& driver : test::drivers_with_gpus()) {
    std::string const name(to_string(driver->kind()));
    CAPTURE(name);
    body(*driver);
  }
}

void finish(Queue& stream) {
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
std::byte* sent(Queue& stream, std::vector<std::int32_t>& items) {
  auto* const memory = stream.allocate(size_of(items));
  stream.copy(memory, bytes_of(items), size_of(items));
  return memory;
}

std::vector<std::int32_t> fetched(Queue& stream, std::byte const* memory, std::size_t count) {
  std::vector<std::int32_t> items(count, -1);
  stream.copy(bytes_of(items), memory, size_of(items));
  finish(stream);
  return items;
}

}  // namespace

TEST_CASE("a driver shows its GPUs") {
  for_each_driver([](DeviceDriver& driver) {
    for (int gpu = 0; gpu < driver.count(); ++gpu) {
      CHECK(!driver.facts(gpu).name.empty());
      CHECK(driver.facts(gpu).multiprocessors > 0);
      CHECK(driver.make_queue(gpu)->multiprocessors() > 0);
    }
  });
}

TEST_CASE("memory of a GPU is aligned, and none is somebody else's") {
  for_each_driver([](DeviceDriver& driver) {
    auto const stream = driver.make_queue(0);
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

TEST_CASE("an event may go before it has passed, and a stream with work before it") {
  for_each_driver([](DeviceDriver& driver) {
    auto items = numbers(100'000);
    std::vector<std::int32_t> back(items.size(), -1);
    {
      auto const stream = driver.make_queue(0);
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
  for_each_driver([](DeviceDriver& driver) {
    auto const stream = driver.make_queue(0);
    auto items = numbers(100);
    auto* const memory = sent(*stream, items);

    std::thread([&] { stream->release(memory); }).join();
    auto* const again = sent(*stream, items);

    CHECK(fetched(*stream, again, items.size()) == items);
  });
}

TEST_CASE("without a GPU the driver of CUDA shows none, and says so to who asks") {
  if (!has_cuda_driver()) {
    CHECK_THROWS_AS((void)make_cuda_driver(), BackendNotBuilt);
    return;
  }
  auto const driver = make_cuda_driver();
  CHECK(driver->kind() == DeviceKind::cuda);
  if (test::left_out_if(driver->count() > 0, "there are GPUs")) return;

  CHECK_THROWS_AS((void)driver->facts(0), DeviceError);
  CHECK_THROWS_AS((void)driver->make_queue(0), DeviceError);
}

TEST_SUITE_END();
