/// A polynomial in each cell by Horner's rule, which computes more than it reads: with products
/// fused into sums (ts::contract) and without. docs/guide/speed.md.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

/// Of degree 7, of a number or of each cell.
template <class X>
auto polynomial(X const& x) {
  return 0.3 + x * (0.2 + x * (0.7 + x * (0.11 + x * (0.5 + x * (0.13 + x * (0.17 + x * 0.19))))));
}

/// The same with every fused step written out.
double fused_polynomial(double x) {
  double value = std::fma(x, 0.19, 0.17);
  for (double const c : {0.13, 0.5, 0.11, 0.7, 0.2, 0.3}) value = std::fma(x, value, c);
  return value;
}

/// The microseconds of a step.
template <class Step>
double time(int steps, Step const& step) {
  ts::synchronize();
  auto const start = std::chrono::steady_clock::now();
  for (int t = 0; t < steps; ++t) step();
  ts::synchronize();
  std::chrono::duration<double, std::micro> const passed = std::chrono::steady_clock::now() - start;
  return passed.count() / steps;
}

double median(std::vector<double> values) {
  auto const middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// polynomial_1d [CELLS] [STEPS] [ROUNDS]: fails unless the bits are those of the fused steps.
int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  std::int64_t const n = argc > 1 ? std::atoll(argv[1]) : 16384 * ts::device_count();
  auto const steps = argc > 2 ? std::atoi(argv[2]) : 2000;
  auto const rounds = argc > 3 ? std::atoi(argv[3]) : 9;
  ts::NamedSharding const pieces(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto const x_of = [](std::int64_t i) { return 1 / std::sqrt(static_cast<double>(i + 1)); };
  auto const x = ts::from_index<double>({n}, pieces, [=](auto i) { return x_of(i[0]); });
  auto v = x, w = x;

  std::vector<double> rounded, fused, ratios;
  for (int round = 0; round < rounds; ++round) {
    rounded.push_back(time(steps, [&] { v = polynomial(x); }));
    fused.push_back(time(steps, [&] { w = ts::contract(polynomial(x)); }));
    ratios.push_back(rounded.back() / fused.back());
  }
  if (ts::process().value() == 0)
    std::printf("rounded %.2f us, fused %.2f us a step: %.2f times as fast\n", median(rounded),
                median(fused), median(ratios));

  bool is_right = true;
  auto const values = w.to_host();
  for (std::int64_t i = 0; i < n; ++i)
    is_right = is_right && values[static_cast<std::size_t>(i)] == fused_polynomial(x_of(i));
  bool const is_near = ts::max(ts::abs(v - w)) < 1e-15 * ts::max(v);
  return is_right && is_near ? 0 : 1;
}
