#pragma once
/// @file
/// Makes the product loops for one kind of processor.

#include <complex>
#include <cstdint>

#include "tessera/base/half.hpp"

#include "src/kernels/products/loops.hpp"
#include "src/kernels/products/multiplier.hpp"

namespace tessera {

/// The loops for a kind of processor, with tiles of `rows` rows whose rows are `bytes` bytes long.
/// A tile takes one register of sums for each vector of its cells, and two or three registers for
/// operands. Processor::run<F>(arguments...) calls F::run, compiled for that processor.
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
