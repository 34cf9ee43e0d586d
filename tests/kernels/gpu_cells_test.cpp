#include "src/kernels/products/gpu_cells.hpp"

#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "src/kernels/products/product.hpp"

#include "support/brute_force.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

/// What a thread of a GPU computes, computed by the host: the bits are those of its own kernel.
TEST_SUITE_BEGIN("kernels/gpu_cells");

namespace {

template <class T>
std::vector<T> numbers(Random& random, std::int64_t count) {
  std::vector<T> cells(static_cast<std::size_t>(count));
  for (auto& cell : cells) {
    auto const number = random.between(-1000, 1000);
    if constexpr (std::is_integral_v<T>)
      cell = static_cast<T>(number * 7919);
    else if constexpr (requires { cell.real(); })
      cell = {static_cast<typename T::value_type>(number) / 37,
              static_cast<typename T::value_type>(random.between(-99, 99)) / 7};
    else
      cell = static_cast<T>(static_cast<float>(number) / 37);
  }
  return cells;
}

template <class T>
bool agrees(ProductType type, std::uint64_t seed) {
  Random random(seed);
  auto const p = random.between(1, 3), m = random.between(1, 11), n = random.between(1, 11);
  auto const k = random.between(0, 1) == 0 ? random.between(0, 9) : random.between(255, 600);
  auto const a = numbers<T>(random, p * m * k), b = numbers<T>(random, p * k * n);
  auto const start = numbers<T>(random, p * m * n);
  Product product;
  product.batch.push_back({p, m * k, k * n, m * n, m * n});
  product.rows.push_back({m, k, 0, n, n});
  product.columns.push_back({n, 0, 1, 1, 1});
  // Terms as two dimensions.
  auto const inner = k % 3 == 0 ? std::int64_t{3} : std::int64_t{1};
  product.terms.push_back({k / inner, inner, inner * n, 0, 0});
  product.terms.push_back({inner, 1, n, 0, 0});
  product.a = a.data();
  product.b = b.data();
  if (random.chance()) product.start = start.data();
  std::vector<T> wanted(start.size()), found(start.size());
  product.c = wanted.data();
  multiply(type, product);
  product.c = found.data();
  with_gpu_cells(type, [&]<class Cells>() {
    for (std::int64_t tile = 0; tile < gpu_tiles(product); ++tile)
      GpuTile<Cells>(product, tile).run();
  });
  return std::memcmp(wanted.data(), found.data(), wanted.size() * sizeof(T)) == 0;
}

template <class T>
bool all_agree(ProductType type) {
  return test::failed_seeds(20, [&](std::uint64_t seed) { return agrees<T>(type, seed); }) == 0;
}

}  // namespace

TEST_CASE("threads of a GPU have the bits of the host") {
  CHECK(all_agree<float>(ProductType::float32));
  CHECK(all_agree<double>(ProductType::float64));
  CHECK(all_agree<std::complex<float>>(ProductType::complex64));
  CHECK(all_agree<std::complex<double>>(ProductType::complex128));
  CHECK(all_agree<float16>(ProductType::float16));
  CHECK(all_agree<bfloat16>(ProductType::bfloat16));
  CHECK(all_agree<std::uint8_t>(ProductType::bits8));
  CHECK(all_agree<std::uint16_t>(ProductType::bits16));
  CHECK(all_agree<std::int32_t>(ProductType::bits32));
  CHECK(all_agree<std::int64_t>(ProductType::bits64));
}

TEST_SUITE_END();
