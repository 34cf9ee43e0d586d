#pragma once
/// @file
/// Makes the loops that multiply for one kind of processor.

#include <complex>
#include <cstdint>

#include "tessera/base/half.hpp"

#include "src/kernels/products/loops.hpp"
#include "src/kernels/products/multiplier.hpp"

namespace tessera {

/// The loops for a kind of processor, by tiles of so many rows and so many bytes of columns. A tile
/// has a register of sums for each vector of its cells; two or three more hold what is multiplied.
/// Processor::run<F>(arguments...) calls F::run, compiled for it.
template <class Processor, std::size_t rows, std::size_t bytes>
[[nodiscard]] constexpr ProductLoops make_product_loops() {
  using Float = RealTile<float, rows, bytes / 4>;
  using Double = RealTile<double, rows, bytes / 8>;
  using ComplexFloat = ComplexTile<float, rows, bytes / 8>;
  using ComplexDouble = ComplexTile<double, rows, bytes / 16>;
  return {{&Multiplier<Processor, RealTile<std::uint8_t, rows, bytes / 2>>::multiply,
           &Multiplier<Processor, RealTile<std::uint16_t, rows, bytes / 2>>::multiply,
           &Multiplier<Processor, RealTile<std::uint32_t, rows, bytes / 4>>::multiply,
           &Multiplier<Processor, RealTile<std::uint64_t, rows, bytes / 8>>::multiply,
           &Multiplier<Processor, Float, float16>::multiply,
           &Multiplier<Processor, Float, bfloat16>::multiply,
           &Multiplier<Processor, Float>::multiply, &Multiplier<Processor, Double>::multiply,
           &Multiplier<Processor, ComplexFloat>::multiply,
           &Multiplier<Processor, ComplexDouble>::multiply}};
}

}  // namespace tessera
