#include "src/device/strided_moves.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "src/device/strided.hpp"
#include "src/index/index.hpp"

#include "support/seeds.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/gpu_moves");

namespace {

using Bytes = std::vector<std::byte>;

int random_from(std::mt19937& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// A block inside `size` bytes whose elements do not overlap.
StridedBlock random_block(std::mt19937& random, std::int64_t element_bytes, Index const& extents,
                          std::int64_t& size) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  block.extents = extents;
  block.strides_bytes.resize(extents.size());
  auto bytes = element_bytes * random_from(random, 1, 2);
  for (std::size_t d = extents.size(); d-- > 0;) {
    block.strides_bytes[d] = bytes;
    bytes *= std::max<std::int64_t>(extents[d], 1);
    bytes += element_bytes * random_from(random, 0, 2);
  }
  block.offset_bytes = element_bytes * random_from(random, 0, 3);
  size = block.offset_bytes + bytes;
  return block;
}

Index random_extents(std::mt19937& random) {
  Index extents;
  auto const rank = random_from(random, 0, 4);
  for (int d = 0; d < rank; ++d)
    extents.push_back(random_from(random, 0, 12) == 0 ? 0 : random_from(random, 1, 6));
  return extents;
}

/// What the threads of a GPU do, in an order of its own.
template <class Number>
void make_moves(GpuMoves const& moves) {
  for (auto i = moves.count; i-- > 0;) {
    auto const offsets = offsets_of<Number>(moves, static_cast<Number>(moves.first + i));
    auto* const to = moves.to + offsets.to;
    auto const* const from = moves.from + offsets.from;
    CHECK(reinterpret_cast<std::uintptr_t>(to) % static_cast<std::uintptr_t>(moves.move_bytes) ==
          0);
    CHECK(reinterpret_cast<std::uintptr_t>(from) % static_cast<std::uintptr_t>(moves.move_bytes) ==
          0);
    std::memcpy(to, from, static_cast<std::size_t>(moves.move_bytes));
  }
}

Bytes random_bytes(std::mt19937& random, std::int64_t size) {
  Bytes bytes(static_cast<std::size_t>(size));
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace

TEST_CASE("moves of a GPU pack and unpack what the host packs and unpacks, in any pieces") {
  std::mt19937 random(test::seed_of_all(1));
  for (int round = 0; round < 500; ++round) {
    std::int64_t const element_bytes[] = {1, 2, 4, 8, 12, 16, 24, 48};
    auto const element = element_bytes[random_from(random, 0, 7)];
    std::int64_t size = 0;
    auto const block = random_block(random, element, random_extents(random), size);
    auto const memory = random_bytes(random, size);
    auto const elements = stream_bytes(block) / element;
    auto const first = elements == 0 ? 0 : random_from(random, 0, static_cast<int>(elements) - 1);
    auto const count =
        elements == 0 ? 0 : random_from(random, 0, static_cast<int>(elements) - first);
    CAPTURE(block);

    Bytes expected(static_cast<std::size_t>(count * element));
    (void)pack(memory.data(), block, first * element, expected);
    Bytes packed(expected.size());
    make_moves<std::uint32_t>(
        plan_pack(memory.data(), block, first * element, packed.data(), count * element));
    CHECK(packed == expected);

    auto unpacked = random_bytes(random, size);
    auto expected_memory = unpacked;
    (void)unpack(expected_memory.data(), block, first * element, packed);
    make_moves<std::uint64_t>(
        plan_unpack(unpacked.data(), block, first * element, packed.data(), count * element));
    CHECK(unpacked == expected_memory);
  }
}

TEST_CASE("moves of a GPU copy blocks as the host does") {
  std::mt19937 random(test::seed_of_all(2));
  for (int round = 0; round < 500; ++round) {
    std::int64_t const element_bytes[] = {1, 2, 4, 8, 12, 16, 24, 48};
    auto const element = element_bytes[random_from(random, 0, 7)];
    auto const extents = random_extents(random);
    std::int64_t from_size = 0;
    std::int64_t to_size = 0;
    auto const from = random_block(random, element, extents, from_size);
    auto const to = random_block(random, element, extents, to_size);
    auto const memory = random_bytes(random, from_size);
    auto copied = random_bytes(random, to_size);
    auto expected = copied;
    CAPTURE(from);
    CAPTURE(to);

    copy_block(expected.data(), to, memory.data(), from);
    make_moves<std::uint32_t>(plan_copy(copied.data(), to, memory.data(), from));

    CHECK(copied == expected);
  }
}

TEST_CASE("long runs move sixteen bytes at once") {
  alignas(16) std::byte memory[16 * 32];
  alignas(16) std::byte packed[16 * 16];
  StridedBlock const rows{{8, 4}, {64, 8}, 0, 8};

  CHECK(plan_pack(memory, rows, 0, packed, 256).move_bytes == 16);
  CHECK(plan_pack(memory, rows, 8, packed, 128).move_bytes == 8);
  CHECK(plan_pack(memory, StridedBlock{{8}, {24}, 0, 8}, 0, packed, 64).move_bytes == 8);
}

TEST_SUITE_END();
