/// @file
/// Prints the largest error of every function, in units in the last place, and where it is.
///
///     circular_errors [count]         random numbers by exponent and hard cases; 10^7 unless given
///     circular_errors [count] NAME    of one function only
///     circular_errors floats [NAME]   all 2^32 floats, against doubles of the C library

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "circular_arguments.hpp"
#include "circular_list.hpp"

using namespace tessera::test::circular;

namespace {

struct Worst {
  double ulps = 0;
  double x = 0;
  double y = 0;

  void take(double error, double at, double second = 0) {
    if (error > ulps) *this = {error, at, second};
  }
  void print(char const* name, char const* type) const {
    std::printf("%-6s %-6s %8.4f ulp at %a %a\n", name, type, ulps, x, y);
    std::fflush(stdout);
  }
};

template <class R, class Function>
void random_unary(Function const& function, std::size_t count) {
  Worst worst;
  for (R const given : arguments<R>(count, count)) {
    R const x = function.only_positive ? std::fabs(given) : given;
    auto const found = value_of<typename Function::type>(x);
    worst.take(ulps_of(function.oracle, found, x), static_cast<double>(x));
  }
  worst.print(function.name, sizeof(R) == 8 ? "double" : "float");
}

/// Pairs whose exponents are independent, and as many whose exponents are close.
template <class R, class Function>
void random_binary(Function const& function, std::size_t count) {
  Worst worst;
  ByExponent<R> random{count};
  for (std::size_t i = 0; i < count; ++i) {
    R const x = random.next();
    R const y = i % 2 == 0 ? random.next() : x * std::fmod(random.next(), R{4});
    auto const found = value_of<typename Function::type>(x, y);
    worst.take(ulps_of(function.oracle, found, x, y), static_cast<double>(x),
               static_cast<double>(y));
  }
  worst.print(function.name, sizeof(R) == 8 ? "double" : "float");
}

/// The error of a float, by a double that is nearly exact.
double ulps_of_float(float found, double exact) {
  if (std::isnan(found) && std::isnan(exact)) return 0;
  if (std::isinf(exact) || std::isinf(found))
    return found == static_cast<float>(exact) ? 0 : HUGE_VAL;
  int exponent;
  std::frexp(exact, &exponent);
  int const last = exponent - 24 < -149 || exact == 0 ? -149 : exponent - 24;
  return std::ldexp(std::fabs(static_cast<double>(found) - exact), -last);
}

template <class Function>
void all_floats(Function const& function) {
  Worst worst;
  std::uint32_t bits = 0;
  do {
    auto const given = std::bit_cast<float>(bits);
    float const x = function.only_positive ? std::fabs(given) : given;
    double const exact = function.in_c(static_cast<double>(x));
    worst.take(ulps_of_float(value_of<typename Function::type>(x), exact), static_cast<double>(x));
  } while (++bits != 0);
  worst.print(function.name, "floats");
}

}  // namespace

int main(int argc, char** argv) {
  bool const floats = argc > 1 && std::strcmp(argv[1], "floats") == 0;
  auto const count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  auto const is_meant = [&](char const* name) {
    return argc < 3 || std::string_view(argv[2]) == name;
  };
  for_each_unary([&](auto const& function) {
    if (!is_meant(function.name)) return;
    if (floats) return all_floats(function);
    random_unary<double>(function, count);
    random_unary<float>(function, count);
  });
  for_each_binary([&](auto const& function) {
    if (!is_meant(function.name) || floats) return;
    random_binary<double>(function, count);
    random_binary<float>(function, count);
  });
}
