#include "tessera/detail/ops/wide_product.hpp"

#include <cstddef>

#include "src/ops/detail.hpp"

namespace tessera::detail {

void WideProduct::multiply(std::span<double const> factors) {
  // Side by side, so that none waits for the one before.
  constexpr std::size_t lanes = 4;
  WideProduct parts[lanes];
  std::size_t i = 0;
  for (; i + lanes <= factors.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) parts[lane].multiply(factors[i + lane]);
  for (; i < factors.size(); ++i) multiply(factors[i]);
  for (auto const& part : parts) merge(part);
}

void WideComplexProduct::multiply(std::span<double const> real, std::span<double const> imaginary) {
  for (std::size_t i = 0; i < real.size(); ++i) multiply(real[i], imaginary[i]);
}

}  // namespace tessera::detail
