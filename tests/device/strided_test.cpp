#include "src/device/strided.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include <doctest/doctest.h>

#include "support/seeds.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("device/strided");

namespace {

using Bytes = std::vector<std::byte>;

/// Bytes that all differ from their neighbours.
Bytes numbered(std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 37 + i / 256);
  return bytes;
}

/// Calls `visit(place)` for every byte of the block's stream, in order, the slow and plain way.
template <class Visit>
void for_each_byte(StridedBlock const& block, Visit const& visit) {
  std::vector<std::int64_t> index(block.extents.size(), 0);
  for (auto const extent : block.extents)
    if (extent == 0) return;
  while (true) {
    auto place = block.offset_bytes;
    for (std::size_t d = 0; d < index.size(); ++d) place += index[d] * block.strides_bytes[d];
    for (std::int64_t byte = 0; byte < block.element_bytes; ++byte) visit(place + byte);
    auto d = index.size();
    while (d > 0 && ++index[d - 1] == block.extents[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<std::int64_t> places(StridedBlock const& block) {
  std::vector<std::int64_t> all;
  for_each_byte(block, [&](std::int64_t place) { all.push_back(place); });
  return all;
}

Bytes stream_of(Bytes const& memory, StridedBlock const& block) {
  Bytes stream;
  for_each_byte(block, [&](std::int64_t place) {
    stream.push_back(memory[static_cast<std::size_t>(place)]);
  });
  return stream;
}

Bytes packed(Bytes const& memory, StridedBlock const& block) {
  Bytes to(static_cast<std::size_t>(stream_bytes(block)));
  CHECK(pack(memory.data(), block, 0, to) == stream_bytes(block));
  return to;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(engine_);
  }

 private:
  std::mt19937 engine_;
};

std::vector<std::int64_t> random_extents(Random& random) {
  std::vector<std::int64_t> extents(static_cast<std::size_t>(random.integer(0, 4)));
  auto const most = extents.size() <= 2 && random.integer(0, 3) == 0 ? 20 : 5;
  for (auto& extent : extents) extent = random.integer(random.integer(0, 9) == 0 ? 0 : 1, most);
  return extents;
}

std::int64_t random_element(Random& random) {
  constexpr std::int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 32, 40};
  return sizes[random.integer(0, 9)];
}

/// A block of an array that is padded at random in every dimension, stored in a random order of the
/// dimensions, some running backwards. Its places never meet and lie in [0, memory_bytes).
struct Placed {
  StridedBlock block;
  std::size_t memory_bytes;
};

Placed random_block(std::vector<std::int64_t> const& extents, std::int64_t element,
                    Random& random) {
  Placed placed;
  auto& block = placed.block;
  block.element_bytes = element;
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    block.extents.push_back(extents[d]);
    block.strides_bytes.push_back(0);
    order.insert(order.begin() + (random.integer(0, 2) == 0
                                      ? random.integer(0, static_cast<std::int64_t>(order.size()))
                                      : 0),
                 d);
  }
  auto span = element;
  for (auto const d : order) {  // the fastest first
    auto const pad = random.integer(0, 1) == 0 ? 0 : random.integer(0, 9);
    auto const stride = span + pad;
    span = std::max<std::int64_t>(1, extents[d]) * stride;
    bool const backwards = random.integer(0, 4) == 0;
    block.strides_bytes[d] = backwards ? -stride : stride;
    if (backwards) block.offset_bytes += std::max<std::int64_t>(0, extents[d] - 1) * stride;
  }
  block.offset_bytes += random.integer(0, 5);
  placed.memory_bytes = static_cast<std::size_t>(span + 8);
  return placed;
}

struct alignas(line_bytes) Line {
  std::byte bytes[line_bytes];
};

/// Blocks of the same extents with two to four dimensions. Elements lie side by side along the last
/// dimension of `to`, and along another one of `from`, whose rows may run backwards. Every second
/// time, the rows of `to` begin with a line.
struct Transpose {
  Placed to, from;
};

Transpose random_transpose(Random& random) {
  auto const element = std::int64_t{1} << random.integer(0, 4);
  auto const line = line_bytes / element;
  auto const rank = static_cast<std::size_t>(random.integer(2, 4));
  auto const turned = static_cast<std::size_t>(random.integer(0, static_cast<int>(rank) - 2));
  std::vector<std::int64_t> extents;
  for (std::size_t d = 0; d < rank; ++d) extents.push_back(random.integer(1, 3));
  extents[turned] = random.integer(1, 2 * line + 9);
  extents[rank - 1] = random.integer(1, 2 * line + 9);

  bool const is_aligned = random.integer(0, 1) == 0;
  auto const gap = [&] { return random.integer(0, 2) * random.integer(1, line_bytes); };
  Transpose both;
  // The dimensions of a block from the fastest one.
  auto const place = [&](Placed& placed, std::vector<std::size_t> const& order, bool is_target) {
    auto& block = placed.block;
    block.element_bytes = element;
    for (auto const extent : extents) block.extents.push_back(extent);
    for (std::size_t d = 0; d < rank; ++d) block.strides_bytes.push_back(0);
    auto const padded = [&](std::int64_t bytes) {
      return is_target && is_aligned ? (bytes + line_bytes - 1) / line_bytes * line_bytes
                                     : bytes + gap();
    };
    block.offset_bytes = is_target && is_aligned ? 0 : gap();
    auto span = element;
    for (std::size_t k = 0; k < rank; ++k) {
      auto const d = order[k];
      bool const is_backwards = k > 0 && !is_target && random.integer(0, 3) == 0;
      block.strides_bytes[d] = is_backwards ? -span : span;
      if (is_backwards) block.offset_bytes += (extents[d] - 1) * span;
      span = padded(extents[d] * span);
    }
    placed.memory_bytes = static_cast<std::size_t>(block.offset_bytes + span + line_bytes);
  };
  std::vector<std::size_t> order;
  for (std::size_t d = rank; d-- > 0;) order.push_back(d);
  place(both.to, order, true);
  order.erase(std::find(order.begin(), order.end(), turned));
  order.insert(order.begin(), turned);
  place(both.from, order, false);
  return both;
}

}  // namespace

TEST_CASE("no dimensions are one element") {
  auto const memory = numbered(100);
  StridedBlock const one{{}, {}, 24, 8};

  CHECK(stream_bytes(one) == 8);
  CHECK(packed(memory, one) == Bytes(memory.begin() + 24, memory.begin() + 32));
}

TEST_CASE("an extent of 0 is nothing to copy") {
  auto const memory = numbered(10);
  StridedBlock const none{{3, 0, 2}, {100, 10, 8}, 5, 8};
  Bytes to(16, std::byte{1});

  CHECK(stream_bytes(none) == 0);
  CHECK(pack(memory.data(), none, 0, to) == 0);
  CHECK(unpack(to.data(), none, 0, memory) == 0);
  copy_block(to.data(), none, memory.data(), none);
  CHECK(to == Bytes(16, std::byte{1}));
  CHECK(normalized(none) == StridedBlock{{0}, {0}, 5, 8});
}

TEST_CASE("a column takes one element of each row, a negative stride runs backwards") {
  auto const memory = numbered(100);
  auto const at = [&](std::size_t i) { return memory[i]; };

  CHECK(packed(memory, {{3}, {20}, 4, 2}) == Bytes{at(4), at(5), at(24), at(25), at(44), at(45)});
  CHECK(packed(memory, {{3}, {-20}, 44, 1}) == Bytes{at(44), at(24), at(4)});
  CHECK(packed(memory, {{3}, {0}, 7, 1}) == Bytes{at(7), at(7), at(7)});
}

TEST_CASE("normalising keeps every byte's place and order") {
  Random random(test::seed_of_all(1));
  for (int i = 0; i < 5'000; ++i) {
    CAPTURE(i);
    auto const [block, bytes] =
        random_block(random_extents(random), random_element(random), random);
    CAPTURE(block);
    REQUIRE(places(normalized(block)) == places(block));
  }
}

TEST_CASE("packing in pieces of any length gives the stream, unpacking puts it back") {
  Random random(test::seed_of_all(2));
  for (int i = 0; i < 5'000; ++i) {
    CAPTURE(i);
    auto const [raw, bytes] = random_block(random_extents(random), random_element(random), random);
    auto const block = random.integer(0, 1) == 0 ? raw : normalized(raw);
    CAPTURE(block);
    auto const memory = numbered(bytes);
    auto const stream = stream_of(memory, block);
    auto const total = stream_bytes(block);
    REQUIRE(total == static_cast<std::int64_t>(stream.size()));

    Bytes got(stream.size() + 50, std::byte{0xee});
    Bytes back(bytes, std::byte{0xdd});
    auto const longest = random.integer(0, 3) == 0 ? 3000 : 100;
    auto const piece = static_cast<std::size_t>(random.integer(1, longest));
    for (std::int64_t first = 0; first <= total;) {
      auto const to = std::span(got).subspan(static_cast<std::size_t>(first));
      auto const room = to.first(std::min(piece, to.size()));
      auto const written = pack(memory.data(), block, first, room);
      REQUIRE(written == std::min(static_cast<std::int64_t>(room.size()), total - first));
      REQUIRE(unpack(back.data(), block, first, room) == written);
      if (written == 0) break;
      first += written;
    }

    REQUIRE(std::equal(stream.begin(), stream.end(), got.begin()));
    REQUIRE(got.back() == std::byte{0xee});
    Bytes expected(bytes, std::byte{0xdd});
    for (auto const place : places(block))
      expected[static_cast<std::size_t>(place)] = memory[static_cast<std::size_t>(place)];
    REQUIRE(back == expected);
  }
}

TEST_CASE("copies that transpose, of every element, from and to any place") {
  Random random(test::seed_of_all(4));
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    auto const [to, from] = random_transpose(random);
    CAPTURE(to.block);
    CAPTURE(from.block);
    auto const memory = numbered(from.memory_bytes);
    auto const expected = stream_of(memory, from.block);
    // A line begins at the base of the target.
    std::vector<Line> lines(to.memory_bytes / sizeof(Line) + 1);
    auto* const base = lines.data()->bytes;
    auto const bytes = [&] { return Bytes(base, base + to.memory_bytes); };

    for (auto* const copy : {&copy_block, &copy_block_non_temporal}) {
      std::fill_n(base, to.memory_bytes, std::byte{0xdd});
      copy(base, to.block, memory.data(), from.block);
      REQUIRE(stream_of(bytes(), to.block) == expected);
      for (auto const place : places(to.block)) base[place] = std::byte{0xdd};
      REQUIRE(bytes() == Bytes(to.memory_bytes, std::byte{0xdd}));
    }
  }
}

TEST_CASE("streams of blocks that transpose, packed and unpacked in pieces of any length") {
  Random random(test::seed_of_all(5));
  for (int i = 0; i < 400; ++i) {
    CAPTURE(i);
    auto const [block, bytes] = random_transpose(random).from;
    CAPTURE(block);
    auto const memory = numbered(bytes);
    auto const stream = stream_of(memory, block);
    auto const row = block.extents.back() * block.element_bytes;
    auto const plane = row * block.extents[block.extents.size() - 2];
    std::int64_t const lengths[] = {1, 7, row - 1, row + 1, 3 * row, plane + row, 2 * plane - 1};
    auto const length = std::max<std::int64_t>(lengths[random.integer(0, 6)], 1);
    CAPTURE(length);
    for (auto* const put : {&unpack, &unpack_non_temporal}) {
      Bytes got, back(bytes);
      for (std::int64_t first = 0; first < stream_bytes(block);) {
        Bytes piece(static_cast<std::size_t>(length));
        auto const written = pack(memory.data(), block, first, piece);
        REQUIRE(written == std::min(length, stream_bytes(block) - first));
        REQUIRE(put(back.data(), block, first, piece) == written);
        got.insert(got.end(), piece.begin(), piece.begin() + written);
        first += written;
      }
      REQUIRE(got == stream);
      REQUIRE(stream_of(back, block) == stream);
    }
  }
}

TEST_CASE("past the end of the stream there is nothing") {
  auto const memory = numbered(64);
  Bytes to(8);
  CHECK(pack(memory.data(), {{}, {}, 0, 8}, 8, to) == 0);
  CHECK(pack(memory.data(), {{}, {}, 0, 8}, 5, to) == 3);
  CHECK(pack(memory.data(), {{2}, {16}, 0, 8}, 16, to) == 0);
  CHECK(pack(memory.data(), {{2}, {16}, 0, 8}, 100, to) == 0);
  CHECK(pack(memory.data(), {{2}, {16}, 0, 8}, 0, {}) == 0);
}

TEST_CASE("a block is copied between any two layouts, and nothing beside it") {
  Random random(test::seed_of_all(3));
  for (int i = 0; i < 5'000; ++i) {
    CAPTURE(i);
    auto const extents = random_extents(random);
    auto const element = random_element(random);
    auto const [to, to_bytes] = random_block(extents, element, random);
    auto const [from, from_bytes] = random_block(extents, element, random);
    CAPTURE(to);
    CAPTURE(from);
    auto const memory = numbered(from_bytes);
    Bytes expected(to_bytes, std::byte{0xdd});
    auto const to_places = places(to);
    auto const from_places = places(from);
    for (std::size_t k = 0; k < to_places.size(); ++k)
      expected[static_cast<std::size_t>(to_places[k])] =
          memory[static_cast<std::size_t>(from_places[k])];

    Bytes plain(to_bytes, std::byte{0xdd});
    copy_block(plain.data(), to, memory.data(), from);
    REQUIRE(plain == expected);

    Bytes merged(to_bytes, std::byte{0xdd});
    auto const pair = normalized(BlockPair{to, from});
    copy_block(merged.data(), pair.to, memory.data(), pair.from);
    REQUIRE(merged == expected);
  }
}

TEST_SUITE_END();
