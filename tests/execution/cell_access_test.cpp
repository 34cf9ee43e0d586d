#include "src/execution/one_sided/cell_access.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/half.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/cell_access");

namespace {

template <class T>
std::byte* bytes_of(T& value) {
  return reinterpret_cast<std::byte*>(&value);
}

template <class T>
CellUpdate adding(NumberKind kind, T value) {
  CellUpdate update;
  update.kind = kind;
  std::memcpy(update.operand.data(), static_cast<void const*>(&value), sizeof value);
  return update;
}

// What is in the cell after `start` + `more`; what was there before is checked.
template <class T>
T sum_by(NumberKind kind, T start, T more) {
  T cell = start;
  T old{};
  update_cell(bytes_of(cell), adding(kind, more), bytes_of(old));
  CHECK(old == start);
  return cell;
}

}  // namespace

TEST_CASE("cells of every size are copied whole, and nothing beside them") {
  for (std::int64_t const bytes : {1, 2, 3, 4, 6, 8, 12, 16, 24}) {
    CAPTURE(bytes);
    alignas(8) std::array<std::byte, 32> cell{};
    std::array<std::byte, 32> from{};
    std::array<std::byte, 32> into{};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i + 1);

    store_cell(cell.data(), bytes, from.data());
    load_cell(cell.data(), bytes, into.data());

    auto const size = static_cast<std::size_t>(bytes);
    CHECK(std::memcmp(into.data(), from.data(), size) == 0);
    CHECK(cell[size] == std::byte{0});
    CHECK(into[size] == std::byte{0});
  }
}

TEST_CASE("numbers of every kind are added, and what was there comes back") {
  CHECK(sum_by<std::int8_t>(NumberKind::int8, 100, 100) == -56);
  CHECK(sum_by<std::uint8_t>(NumberKind::uint8, 200, 100) == 44);
  CHECK(sum_by<std::int16_t>(NumberKind::int16, -5, 3) == -2);
  CHECK(sum_by<std::uint16_t>(NumberKind::uint16, 5, 3) == 8);
  CHECK(sum_by<std::int32_t>(NumberKind::int32, 5, -8) == -3);
  CHECK(sum_by<std::uint32_t>(NumberKind::uint32, 5, 3) == 8);
  CHECK(sum_by<std::int64_t>(NumberKind::int64, 5, -8) == -3);
  CHECK(sum_by<std::uint64_t>(NumberKind::uint64, 5, 3) == 8);
  CHECK(sum_by<float>(NumberKind::float32, 0.5F, 0.25F) == 0.75F);
  CHECK(sum_by<double>(NumberKind::float64, 0.1, 0.3) == 0.1 + 0.3);
  CHECK(sum_by<float16>(NumberKind::half, float16(1.5F), float16(2.0F)) == float16(3.5F));
  CHECK(sum_by<bfloat16>(NumberKind::brain, bfloat16(1.5F), bfloat16(2.0F)) == bfloat16(3.5F));
  using Complex = std::complex<double>;
  CHECK(sum_by<Complex>(NumberKind::complex128, {1, 2}, {3, 5}) == Complex(4, 7));
}

TEST_CASE("an exchange happens only where the cell holds what is expected") {
  double cell = 1.5;
  double old = 0;
  auto update = adding(NumberKind::float64, 7.0);
  update.what = CellUpdate::What::compare_exchange;
  double const expected = 2.5;
  std::memcpy(update.expected.data(), &expected, sizeof expected);

  update_cell(bytes_of(cell), update, bytes_of(old));
  CHECK(cell == 1.5);
  CHECK(old == 1.5);

  cell = 2.5;
  update_cell(bytes_of(cell), update, bytes_of(old));
  CHECK(cell == 7.0);
  CHECK(old == 2.5);
}

TEST_CASE("no addition of several threads is lost") {
  constexpr int rounds = 2000;
  std::int64_t number = 0;
  alignas(2) float16 half(0.0F);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          update_cell(bytes_of(number), adding<std::int64_t>(NumberKind::int64, 1), nullptr);
          if (i < 600)  // exact up to 2048
            update_cell(bytes_of(half), adding(NumberKind::half, float16(1.0F)), nullptr);
        }
      });
  }
  CHECK(number == 3 * rounds);
  CHECK(static_cast<float>(half) == 1800.0F);
}

TEST_SUITE_END();
