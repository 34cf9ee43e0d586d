#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

// Statements that write so much on one device that their rows are stored past the caches.

using namespace tessera;

TEST_SUITE_BEGIN("expr/past_caches");

namespace {

constexpr std::int64_t cells = 2'200'001;  // of 8 bytes: more than 16 MiB
auto const inner = range(1, -1);
auto const left = range(0, -2);
auto const right = from(2);

// All cells on one device.
NamedSharding alone(PartitionSpec const& spec) {
  return {Mesh({0}, {1}, {"one"}), spec};
}

double start(std::int64_t i) {
  return static_cast<double>((i * 7919) % 10'007);
}

}  // namespace

TEST_CASE("a line that is written to another array, and to its own second buffer") {
  auto const u = from_index<double>({cells}, alone(P(none)), [](auto i) { return start(i[0]); });
  auto v = full<double>({cells}, -1.0, alone(P(none)));
  auto w = u;

  v(inner) = 0.5 * u(inner) + 0.1 * u(left) + 0.3 * u(right);
  w(inner) = 0.5 * w(inner) + 0.1 * w(left) + 0.3 * w(right);

  auto const got = v.to_host();
  auto const swapped = w.to_host();
  bool same = got.front() == -1.0 && got.back() == -1.0 && swapped.front() == start(0) &&
              swapped.back() == start(cells - 1);
  for (std::int64_t i = 1; i + 1 < cells; ++i) {
    auto const wanted = 0.5 * start(i) + 0.1 * start(i - 1) + 0.3 * start(i + 1);
    auto const at = static_cast<std::size_t>(i);
    same = same && got[at] == wanted && swapped[at] == wanted;
  }
  CHECK(same);
}

TEST_CASE("rows of odd lengths, whose ends do not lie at the ends of lines") {
  constexpr std::int64_t width = 1237, height = 3501;
  auto const u = from_index<float>({height, width}, alone(P(none, none)), [](auto i) {
    return static_cast<float>(start(i[0] * width + i[1]));
  });
  auto v = full<float>({height, width}, -1.0F, alone(P(none, none)));

  v(from(1), inner) = 0.5F * u(range(0, -1), inner) + 0.25F * u(from(1), right) + index(1);

  auto const got = v.to_host();
  bool same = true;
  auto const at = [](std::int64_t i, std::int64_t j) {
    return static_cast<float>(start(i * width + j));
  };
  for (std::int64_t i = 0; i < height; ++i)
    for (std::int64_t j = 0; j < width; ++j) {
      bool const is_written = i > 0 && j > 0 && j + 1 < width;
      auto const wanted = is_written
                              ? static_cast<float>(0.5F * at(i - 1, j) + 0.25F * at(i, j + 1) +
                                                   static_cast<double>(j - 1))
                              : -1.0F;
      same = same && got[static_cast<std::size_t>(i * width + j)] == wanted;
    }
  CHECK(same);
}

TEST_SUITE_END();
