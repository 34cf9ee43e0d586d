#include "src/execution/loop_arrays.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("execution/loop_arrays");

namespace {

DeviceId const self{0};

std::shared_ptr<ArrayState> ten_cells(std::uint64_t number) {
  return std::make_shared<ArrayState>(
      std::make_shared<Layout const>(NamedSharding(Mesh({0}, {1}, {"x"}), P("x")), Shape{10}), 8,
      number, std::vector<LocalDevice>{{self, shared_host_queue()}});
}

Shard& shard_of(std::shared_ptr<ArrayState> const& array) {
  return array->shards().front();
}

// The bytes of an array's buffer from its first cell on.
std::byte* cells_in(Shard& shard, std::size_t which) {
  return shard.buffer(which) + shard.padded_layout.lead * 8;
}

// A loop over two arrays: each block leaves the first one in its other buffer.
struct Swapping {
  Loop loop{LoweredLoop{}};
  std::vector<std::shared_ptr<ArrayState>> arrays{ten_cells(1), ten_cells(2)};

  Swapping() {
    loop.after = {{0, 1}, {1, 0}};
    loop.written = {true, true};
    loop.swapped = {true, false};
    loop.differing = {Box{{2}, {8}}, Box{{0}, {0}}};
  }
  [[nodiscard]] LoopRun run(std::int64_t blocks) const { return {loop, arrays, blocks, 0}; }
};

}  // namespace

TEST_CASE("a device is told both buffers of arrays that swap, the current one first") {
  Swapping swapping;
  auto const arguments = arguments_of(swapping.run(4), self, 0);

  REQUIRE(arguments.buffers.size() == 2);
  auto& shard = shard_of(swapping.arrays[0]);
  CHECK(shard.has_second());
  CHECK(arguments.buffers[0] == BufferPair{shard.buffer(0), shard.buffer(1)});
  CHECK(arguments.buffers[1][0] == shard_of(swapping.arrays[1]).cells());
  CHECK(arguments.buffers[1][1] == nullptr);
}

TEST_CASE("an array of which the device holds nothing has no buffers") {
  Swapping swapping;
  auto const arguments = arguments_of(swapping.run(1), DeviceId{5}, 0);
  CHECK(arguments.buffers == std::vector<BufferPair>(2));
}

TEST_CASE("the other buffer takes the cells in which it may not differ") {
  Swapping swapping;
  auto& shard = shard_of(swapping.arrays[0]);
  swapping.arrays[0]->need_second_buffer(shard);
  shard.differing = {Box{{0}, {10}}};
  std::fill_n(cells_in(shard, 0), 80, std::byte{7});
  std::fill_n(cells_in(shard, 1), 80, std::byte{1});

  (void)arguments_of(swapping.run(1), self, 0);

  auto const* const other = cells_in(shard, 1);
  CHECK(other[0] == std::byte{7});
  CHECK(other[15] == std::byte{7});
  CHECK(other[16] == std::byte{1});  // the loop expects that they differ here
  CHECK(other[63] == std::byte{1});
  CHECK(other[64] == std::byte{7});
  CHECK(other[79] == std::byte{7});
}

TEST_CASE("after a loop an array lies in the buffer in which the last block left it") {
  for (std::int64_t blocks = 0; blocks <= 4; ++blocks) {
    CAPTURE(blocks);
    Swapping swapping;
    auto& shard = shard_of(swapping.arrays[0]);
    (void)arguments_of(swapping.run(blocks), self, 0);
    note_effects(swapping.run(blocks));
    CHECK(shard.current == static_cast<std::size_t>(blocks % 2));
    CHECK(shard_of(swapping.arrays[1]).current == 0);
  }
}

TEST_CASE("a loop that swaps what arrays are called leaves each in the buffer of its own") {
  Swapping swapping;
  swapping.loop.after = {{1, 0}, {0, 1}};
  swapping.loop.swapped = {true, true};
  (void)arguments_of(swapping.run(1), self, 0);
  note_effects(swapping.run(1));
  // The second name has array 0 now, in its other buffer.
  CHECK(shard_of(swapping.arrays[0]).current == 1);
  CHECK(shard_of(swapping.arrays[1]).current == 0);
}

TEST_CASE("after a loop the buffers of an array differ where the loop said so") {
  Swapping swapping;
  auto& shard = shard_of(swapping.arrays[0]);
  (void)arguments_of(swapping.run(1), self, 0);
  note_effects(swapping.run(1));
  REQUIRE(shard.differing.size() == 1);
  CHECK(shard.differing[0] == Box{{2}, {8}});
}

TEST_CASE("an array that a loop does not write keeps what is known of it") {
  Swapping swapping;
  swapping.loop.written = {false, false};
  auto& shard = shard_of(swapping.arrays[0]);
  (void)arguments_of(swapping.run(1), self, 0);
  shard.differing = {Box{{3}, {4}}};
  note_effects(swapping.run(1));
  CHECK(shard.current == 0);
  CHECK(shard.differing[0] == Box{{3}, {4}});
}

TEST_SUITE_END();
