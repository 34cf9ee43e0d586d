#include "tessera/ops/einsum.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"

#include "support/arrays.hpp"
#include "support/layouts.hpp"

using namespace tessera;
using test::row;

/// einsum and tensordot, beside loops over all labels and beside matmul.
TEST_SUITE_BEGIN("ops/einsum");

namespace {

template <std::size_t N>
DistArray<double, N> numbers(test::Random& random, std::array<std::int64_t, N> const& extents,
                             std::int64_t seed) {
  return from_index<double, N>(
      extents, test::random_sharding(random, device_count(), Shape(extents)), [=](auto const& i) {
        std::int64_t number = seed;
        for (auto const k : i) number = number * 31 + k;
        return static_cast<double>(number % 1009 - 500) / 64;
      });
}

}  // namespace

TEST_CASE("einsum of two matrices is matmul") {
  test::Random random(1);
  for (int i = 0; i < 8; ++i) {
    auto const a = numbers<2>(random, {5, 300}, 1);
    auto const b = numbers<2>(random, {300, 4}, 2);
    CHECK_ALL((einsum<"ik,kj->ij">(a, b).to_host()) == matmul(a, b).to_host());
    CHECK_ALL((einsum<"ik,kj->ji">(a, b).to_host()) ==
              DistArray(transpose(matmul(a, b))).to_host());
    CHECK_ALL((einsum<"ik, kj">(a, b).to_host()) == matmul(a, b).to_host());
  }
}

TEST_CASE("attention scores") {
  test::Random random(2);
  auto const q = numbers<4>(random, {2, 3, 4, 5}, 1);
  auto const k = numbers<4>(random, {2, 6, 4, 5}, 2);
  auto const scores = einsum<"bqhd,bkhd->bhqk">(q, k);
  CHECK_ALL(scores.shape() == Shape{2, 4, 3, 6});
  auto const of_q = q.to_host(), of_k = k.to_host(), found = scores.to_host();
  bool is_right = true;
  std::size_t at = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t h = 0; h < 4; ++h)
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 6; ++j) {
          double sum = 0;
          for (std::size_t d = 0; d < 5; ++d)
            sum = std::fma(of_q[((b * 3 + i) * 4 + h) * 5 + d], of_k[((b * 6 + j) * 4 + h) * 5 + d],
                           sum);
          is_right = is_right && found[at++] == sum;
        }
  CHECK_ALL(is_right);
}

TEST_CASE("terms of several labels count in the order of the first operand") {
  test::Random random(3);
  auto const a = numbers<3>(random, {3, 20, 30}, 1);
  auto const b = numbers<3>(random, {30, 20, 4}, 2);
  auto const c = einsum<"ipq,qpj->ij">(a, b);
  auto const of_a = a.to_host(), of_b = b.to_host(), found = c.to_host();
  bool is_right = true;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      double cell = 0, sum = 0;
      for (std::size_t k = 0; k < 600; ++k) {
        sum = std::fma(of_a[i * 600 + k], of_b[(k % 30 * 20 + k / 30) * 4 + j], sum);
        if (k % 256 == 255 || k == 599) {
          cell += sum;
          sum = 0;
        }
      }
      is_right = is_right && found[i * 4 + j] == cell;
    }
  CHECK_ALL(is_right);
  CHECK_ALL(tensordot(a, b, axis(1, 2), axis(1, 0)).to_host() == found);
  CHECK_ALL(tensordot(a, b, axis(2, 1), axis(0, -2)).to_host() == found);
}

TEST_CASE("labels of one operand alone are summed first") {
  test::Random random(4);
  auto const a = numbers<3>(random, {3, 4, 5}, 1);
  auto const b = numbers<2>(random, {5, 2}, 2);
  CHECK_ALL((einsum<"ixk,kj->ij">(a, b).to_host()) == matmul(sum(a, axis(1)), b).to_host());
  CHECK_ALL((einsum<"ijk->ki">(a).to_host()) == DistArray(transpose(sum(a, axis(1)))).to_host());
  double const all = einsum<"ijk->">(a);
  CHECK_ALL(all == sum(a).value());
  double const of_sums = einsum<"ijk,xy->">(a, b);
  CHECK_ALL(of_sums == std::fma(sum(a).value(), sum(b).value(), 0.0));
  CHECK_ALL((einsum<"ij->ji">(b).to_host()) == DistArray(transpose(b)).to_host());
}

TEST_CASE("three operands and more") {
  test::Random random(5);
  auto const a = numbers<2>(random, {3, 40}, 1);
  auto const b = numbers<2>(random, {40, 30}, 2);
  auto const c = numbers<2>(random, {30, 2}, 3);
  // b c has fewer cells than a b.
  CHECK_ALL((einsum<"ij,jk,kl->il">(a, b, c).to_host()) == matmul(matmul(a, b), c).to_host());
  auto const x = numbers<1>(random, {2}, 4);
  CHECK_ALL((einsum<"ij,jk,kl,l->i">(a, b, c, x).to_host()) ==
            matmul(a, matmul(b, matmul(c, x))).to_host());
}

TEST_CASE("sums of 16-bit types stay float between pairs") {
  NamedSharding const rows(row(device_count()), P("x", none));
  auto const a = full<float16>({2, 2}, float16(0.1F), rows);
  auto const d = einsum<"ij,jk,kl->il">(a, a, a);
  static_assert(std::same_as<decltype(d)::value_type, float16>);
  auto const tenth = static_cast<float>(float16(0.1F));
  auto const once = std::fma(tenth, tenth, tenth * tenth);
  CHECK_ALL(static_cast<float>(d.to_host()[3]) ==
            static_cast<float>(float16(std::fma(once, tenth, once * tenth))));
}

TEST_CASE("mistakes in labels") {
  NamedSharding const rows(row(device_count()), P("x", none));
  auto const a = zeros<double>({2, 3}, rows);
  auto const b = zeros<double>({4, 3}, rows);
  CHECK_ALL_THROW((void)(einsum<"ij,jk->ik">(a, b)), ShapeError);
  CHECK_ALL_THROW((void)(einsum<"ij,kj,ik->ik">(a, b, b)), ShapeError);
  CHECK_ALL_THROW((void)tensordot(a, b, axis(0), axis(0)), ShapeError);
  CHECK_ALL_THROW((void)tensordot(a, b, axis(2), axis(0)), ShapeError);
  auto const c =
      zeros<double>({1, 2, 1, 2, 1}, {row(device_count()), P(none, "x", none, none, none)});
  CHECK_ALL((einsum<"abcde,fgh->abcdefgh">(
                 c, zeros<double>({2, 1, 2}, {row(device_count()), P("x", none, none)}))
                 .size()) == 16);
  CHECK_ALL_THROW((void)(einsum<"abcde,efghi->abcdfghi">(c, c)), UsageError);
  CHECK_ALL_THROW((void)tensordot(a, b, axis(1, 1), axis(1, 0)), ShapeError);
}

TEST_SUITE_END();
