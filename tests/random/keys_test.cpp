#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/kernels/random/philox.hpp"
#include "tessera/random/key.hpp"
#include "tessera/random/random.hpp"

using namespace tessera;
using detail::PhiloxBlocks;

/// Keys, and the numbers of blocks of cells beside those of cells alone.
TEST_SUITE_BEGIN("random/keys");

namespace {

template <class T>
bool same_bits(T a, T b) {
  using Bytes = std::array<std::byte, sizeof(T)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}

/// Whether D fills whole blocks with what its cells get alone.
template <class D>
void check_fill(D const& distribution) {
  using Raw = typename D::Raw;
  constexpr std::uint64_t per_block = sizeof(Raw) == 8 ? 2 : 4;
  for (auto const& blocks : {PhiloxBlocks{0, 0, 0, 1},
                             {~0ULL, 0, 3, 5},
                             {42, 0, (1ULL << 32U) - 2, 64},
                             {9, 0, 5, 301}}) {
    std::vector<Raw> raws(static_cast<std::size_t>(4 * 304));
    distribution.fill(blocks, raws.data());
    bool is_same = true;
    for (std::uint64_t j = 0; j < per_block * static_cast<std::uint64_t>(blocks.count); ++j)
      is_same = is_same &&
                same_bits(raws[j], distribution.raw_at(blocks.key, blocks.first * per_block + j));
    CAPTURE(blocks.count);
    CHECK(is_same);
  }
}

}  // namespace

TEST_CASE("keys are numbers of draws that no cell uses") {
  random::Key const key(0x299f31d0'a4093822);
  auto const made = [&](std::uint64_t draw, std::uint64_t i) {
    auto const block = detail::philox(key.value(), draw, i / 2);
    auto const first = 2 * (i % 2);
    return random::Key(block.words[first] | std::uint64_t{block.words[first + 1]} << 32U);
  };
  auto const [first, second, third] = key.split<3>();

  CHECK(first == made(~0ULL, 0));
  CHECK(second == made(~0ULL, 1));
  CHECK(third == made(~0ULL, 2));
  CHECK(key.split(3) == std::vector{first, second, third});
  CHECK(key.split(0).empty());
  CHECK(key.fold_in(7) == made(~0ULL - 1, 7));
  CHECK(key.fold_in(-1) == made(~0ULL - 1, ~0ULL));
  CHECK(random::Key(key.at(Step(5)).value_at(5)) == made(~0ULL - 2, 5));
  CHECK(random::Key(key.at(Step(5) + 2).value_at(5)) == made(~0ULL - 2, 7));
  auto const later = key.at(Step(0)).fold_in(3).split<2>()[1];
  CHECK(random::Key(later.value_at(9)) ==
        random::Key(key.at(Step(9)).value_at(9)).fold_in(3).split<2>()[1]);
}

TEST_CASE("cells in blocks get what they get alone") {
  check_fill(detail::UniformNumbers<float>());
  check_fill(detail::UniformNumbers<double>());
  check_fill(detail::NormalNumbers<float>());
  check_fill(detail::NormalNumbers<double>());
  check_fill(detail::ExponentialNumbers<float>());
  check_fill(detail::ExponentialNumbers<double>());
  check_fill(detail::TruncatedNormalNumbers<float>{detail::normal_interval(-2.0F, 0.5F)});
  check_fill(detail::TruncatedNormalNumbers<double>{detail::normal_interval(6.0, 7.0)});
  check_fill(detail::random_integers<std::int32_t>(-5, 7));
  check_fill(detail::random_integers<std::int32_t>(-(1 << 30), (1 << 30) + 1));
  check_fill(detail::random_integers<std::int64_t>(0, (std::int64_t{1} << 62) + 3));
}

TEST_SUITE_END();
