/// A polynomial in each cell by Horner's rule, which computes more than it reads: with products
/// fused into sums (ts::contract) and without. docs/guide/speed.md.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tessera/tessera.hpp>

#include "support/arguments.hpp"
#include "support/timing.hpp"

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

}  // namespace

// polynomial_1d [CELLS] [STEPS] [ROUNDS]: fails unless the bits are those of the fused steps.
int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const n = examples::argument(argc, argv, 1, 16384 * ts::device_count());
  auto const steps = examples::argument(argc, argv, 2, 2000);
  auto const rounds = examples::argument(argc, argv, 3, 9);
  ts::NamedSharding const pieces(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto const x_of = [](std::int64_t i) { return 1 / std::sqrt(static_cast<double>(i + 1)); };
  auto const x = ts::from_index<double>({n}, pieces, [=](auto i) { return x_of(i[0]); });
  auto v = x, w = x;

  std::vector<double> rounded, fused, ratios;
  for (int round = 0; round < rounds; ++round) {
    rounded.push_back(examples::time(steps, [&] { v = polynomial(x); }));
    fused.push_back(examples::time(steps, [&] { w = ts::contract(polynomial(x)); }));
    ratios.push_back(rounded.back() / fused.back());
  }
  if (ts::process().value() == 0)
    std::printf("rounded %.2f us, fused %.2f us a step: %.2f times as fast\n",
                examples::median(rounded), examples::median(fused), examples::median(ratios));

  bool is_right = true;
  auto const values = w.to_host();
  for (std::int64_t i = 0; i < n; ++i)
    is_right = is_right && values[static_cast<std::size_t>(i)] == fused_polynomial(x_of(i));
  bool const is_near = ts::max(ts::abs(v - w)) < 1e-15 * ts::max(v);
  return is_right && is_near ? 0 : 1;
}
