// Work of a stream that is kept and done again. The emulated GPU is always there; CUDA's where a
// machine has one.
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/device/device_memory.hpp"
#include "src/device/driver.hpp"
#include "src/device/emulated/queue.hpp"

#include "support/gpus.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/gpu_graph");

namespace {

constexpr std::int64_t count = 6;
constexpr std::int64_t size_bytes = count * std::int64_t{sizeof(std::int64_t)};
using Numbers = std::vector<std::int64_t>;

// All cells but the last, and all but the first.
StridedBlock const all_but_one{{count - 1}, {8}, 0, 8};

/// Calls body(stream) for a stream of each driver.
template <class Body>
void for_each_stream(Body const& body) {
  for (auto const& driver : test::drivers_with_gpus()) {
    std::string const name(to_string(driver->kind()));
    CAPTURE(name);
    body(driver->make_queue(0));
  }
}

DeviceMemory filled(std::uint64_t value, std::shared_ptr<Queue> const& stream) {
  DeviceMemory memory(size_bytes, stream);
  stream->fill(memory.data(), value, size_bytes);
  return memory;
}

// Waits for all work of the stream.
Numbers on_host(DeviceMemory const& memory, Queue& stream) {
  Numbers numbers(count);
  stream.copy(reinterpret_cast<std::byte*>(numbers.data()), memory.data(), size_bytes);
  wait_for(stream);
  return numbers;
}

// A graph that moves all cells up by one, through a second array.
std::unique_ptr<GpuGraph> moving_up(DeviceMemory& cells, DeviceMemory& other, Queue& stream) {
  return stream.make_graph([&] {
    stream.copy_block(other.data() + 8, all_but_one, cells.data(), all_but_one);
    stream.copy_block(cells.data() + 8, all_but_one, other.data() + 8, all_but_one);
  });
}

}  // namespace

TEST_CASE("what a graph keeps is not done before it runs, and as often as it runs") {
  for_each_stream([](std::shared_ptr<Queue> const& stream) {
    auto cells = filled(0, stream);
    auto other = filled(0, stream);
    stream->fill(cells.data(), 7, 8);
    auto const graph = moving_up(cells, other, *stream);
    CHECK(on_host(cells, *stream) == Numbers{7, 0, 0, 0, 0, 0});

    stream->run(*graph);
    stream->run(*graph);
    stream->fill(cells.data(), 9, 8);
    stream->run(*graph);

    CHECK(on_host(cells, *stream) == Numbers{9, 9, 7, 7, 0, 0});
  });
}

TEST_CASE("a graph packs, unpacks, copies and fills") {
  for_each_stream([](std::shared_ptr<Queue> const& stream) {
    auto cells = filled(3, stream);
    auto dense = filled(0, stream);
    auto back = filled(0, stream);
    auto copy = filled(0, stream);
    auto const graph = stream->make_graph([&] {
      stream->fill(cells.data() + 8, 4, 8);
      stream->pack(cells.data() + 8, all_but_one, 0, dense.data(), 16);
      stream->unpack(back.data(), all_but_one, 8, dense.data(), 16);
      stream->copy(copy.data(), back.data(), size_bytes);
    });

    stream->run(*graph);

    CHECK(on_host(dense, *stream) == Numbers{4, 3, 0, 0, 0, 0});
    CHECK(on_host(copy, *stream) == Numbers{0, 4, 3, 0, 0, 0});
  });
}

TEST_CASE("a graph without work does nothing") {
  for_each_stream([](std::shared_ptr<Queue> const& stream) {
    auto const graph = stream->make_graph([] {});

    stream->run(*graph);
    wait_for(*stream);

    CHECK(stream->is_idle());
  });
}

TEST_CASE("a graph may go while it is under way, and outlive its stream") {
  for (auto const& driver : test::drivers_with_gpus()) {
    std::string const name(to_string(driver->kind()));
    CAPTURE(name);
    auto stream = driver->make_queue(0);
    {
      auto cells = filled(0, stream);
      auto other = filled(0, stream);
      stream->fill(cells.data(), 5, 8);
      auto graph = moving_up(cells, other, *stream);
      for (int i = 0; i < 3; ++i) stream->run(*graph);
      graph = nullptr;
      CHECK(on_host(cells, *stream) == Numbers{5, 5, 5, 5, 0, 0});
    }
    auto const left = stream->make_graph([] {});
    stream = nullptr;
  }
}

TEST_CASE("what is no work of the GPU alone is refused while a graph is made") {
  for_each_stream([](std::shared_ptr<Queue> const& stream) {
    auto cells = filled(1, stream);
    Numbers host(count);
    auto* const on_the_host = reinterpret_cast<std::byte*>(host.data());
    auto const event = stream->make_event();
    auto const graph = stream->make_graph([] {});
    std::vector<std::function<void()>> const refused{
        [&] { (void)stream->allocate(8); },
        [&] { stream->copy(on_the_host, cells.data(), size_bytes); },
        [&] { stream->copy(cells.data(), on_the_host, size_bytes); },
        [&] { stream->record(*event); },
        [&] { stream->wait(*event); },
        [&] { (void)stream->is_idle(); },
        [&] { stream->run(*graph); },
        [&] { (void)stream->make_graph([] {}); },
    };
    for (auto const& call : refused)
      CHECK_THROWS_AS((void)stream->make_graph([&] {
        stream->fill(cells.data(), 2, size_bytes);
        call();
      }),
                      DeviceError);

    // Nothing of it was kept, and the stream goes on.
    CHECK(on_host(cells, *stream) == Numbers(count, 1));
    auto const again = stream->make_graph([&] { stream->fill(cells.data(), 2, size_bytes); });
    stream->run(*again);
    CHECK(on_host(cells, *stream) == Numbers(count, 2));
  });
}

TEST_CASE("what the caller throws while a graph is made goes through") {
  for_each_stream([](std::shared_ptr<Queue> const& stream) {
    auto const made = [&] { (void)stream->make_graph([] { throw UsageError("not today"); }); };
    CHECK_THROWS_WITH_AS(made(), "not today", UsageError);
    wait_for(*stream);
  });
}

TEST_CASE("the emulation calls deferred work of a graph in each run") {
  auto const driver = make_emulated_driver();
  auto const stream = driver->make_queue(0);
  int calls = 0;
  auto const graph =
      stream->make_graph([&] { emulated::queue_of(*stream).defer([&] { ++calls; }); });

  stream->run(*graph);
  stream->run(*graph);
  wait_for(*stream);

  CHECK(calls == 2);
}

TEST_SUITE_END();
