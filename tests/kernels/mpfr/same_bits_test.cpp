#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "arguments.hpp"
#include "functions.hpp"

using namespace tessera::test;
using tessera::detail::formula::as_bits;

TEST_SUITE_BEGIN("formulas/same_bits");

namespace {

constexpr std::size_t count = 100'000;
constexpr std::size_t largest_size = 40;

/// The first argument for which the bits differ, or the number of arguments.
template <class R>
std::size_t first_difference(R const* a, R const* b, std::size_t size) {
  for (std::size_t j = 0; j < size; ++j)
    if (as_bits(a[j]) != as_bits(b[j]) && !(std::isnan(a[j]) && std::isnan(b[j]))) return j;
  return size;
}

/// Compares a loop over pieces of 1, 2, ... 40 cells, and then over all, with one cell at a time.
template <class F, class R, class Loop>
void check_loop(Arguments<R> of, std::string const& width, Loop const& loop) {
  std::vector<R> alone(of.count);
  loop_of_baseline<F>(of, alone.data());
  std::vector<R> found(of.count);
  std::size_t size = 1;
  for (std::size_t at = 0; at < of.count; at += size, size = size % largest_size + 1) {
    size = std::min(size, of.count - at);
    loop(Arguments<R>{of.x + at, of.y == nullptr ? nullptr : of.y + at, size}, found.data() + at);
  }
  auto const in_pieces = first_difference(alone.data(), found.data(), of.count);
  loop(of, found.data());
  auto const in_one = first_difference(alone.data(), found.data(), of.count);
  auto const differs = std::min(in_pieces, in_one);
  CHECK_MESSAGE(differs == of.count, std::string(F::name), " differs in ", width, " at ",
                of.x[differs == of.count ? 0 : differs]);
}

template <class F, class R>
void check(Arguments<R> of) {
  if (has_avx2()) check_loop<F>(of, "AVX2", loop_of_avx2<F, R>);
  if (has_avx512()) check_loop<F>(of, "AVX-512", loop_of_avx512<F, R>);
  if (!has_avx2()) MESSAGE("this processor has neither AVX2 nor AVX-512");
}

}  // namespace

TEST_CASE_TEMPLATE("a cell has the same bits in vectors of any width and alone", R, double, float) {
  auto const x = test_arguments<R>(count);
  for_each_function([&]<class F>() { check<F, R>({x.data(), nullptr, x.size()}); });
}

TEST_CASE_TEMPLATE("a power has the same bits in vectors of any width and alone", R, double,
                   float) {
  auto const pairs = test_pairs<R>(count);
  check<Pow, R>({pairs.x.data(), pairs.y.data(), pairs.x.size()});
}

TEST_SUITE_END();
