/// @file
/// Prints nanoseconds an element of each function over 4096 numbers: in vectors of AVX2 and
/// AVX-512, and by <cmath>.
///
/// usage: speed [FUNCTION]

#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "functions.hpp"

using namespace tessera::test;

namespace {

constexpr std::size_t count = 4096;

template <class F, class R>
void loop_of_cmath(Arguments<R> of, R* result) {
  for (std::size_t j = 0; j < of.count; ++j) {
    if constexpr (F::arguments == 2)
      result[j] = F::template wide<R>(of.x[j], of.y[j]);
    else
      result[j] = F::template wide<R>(of.x[j]);
  }
}

/// The best of many runs.
template <class Call>
double nanoseconds_of(Call const& call) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int run = 0; run < 200; ++run) {
    auto const start = Clock::now();
    call();
    std::chrono::duration<double, std::nano> const took = Clock::now() - start;
    best = std::min(best, took.count() / count);
  }
  return best;
}

template <class F, class R>
void print_speed() {
  RandomUniform<R> positive(1, R(0.1), R(20));
  RandomUniform<R> any(2, R(-10), R(10));
  std::vector<R> x;
  std::vector<R> y;
  std::vector<R> result(count);
  bool const of_logarithm = F::name.substr(0, 3) == "log" || F::arguments == 2;
  for (std::size_t j = 0; j < count; ++j) {
    x.push_back(of_logarithm ? positive() : any());
    y.push_back(any());
  }
  Arguments<R> const of{x.data(), y.data(), count};
  auto const cmath = nanoseconds_of([&] { loop_of_cmath<F>(of, result.data()); });
  std::printf("%-6s %-6s cmath %6.2f", std::string(F::name).c_str(),
              sizeof(R) == 8 ? "double" : "float", cmath);
  if (has_avx2()) {
    auto const avx2 = nanoseconds_of([&] { loop_of_avx2<F>(of, result.data()); });
    std::printf("  AVX2 %6.2f (%.1f times)", avx2, cmath / avx2);
  }
  if (has_avx512())
    std::printf("  AVX-512 %6.2f", nanoseconds_of([&] { loop_of_avx512<F>(of, result.data()); }));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  auto const print = [&]<class F>() {
    if (argc > 1 && argv[1] != F::name) return;
    print_speed<F, double>();
    print_speed<F, float>();
  };
  for_each_function(print);
  print.template operator()<Pow>();
}
