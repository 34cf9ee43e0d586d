#pragma once
/// @file
/// Makes the products of one kind of processor.

#include <complex>
#include <cstdint>

#include "tessera/base/half.hpp"

#include "src/products/multiplier.hpp"
#include "src/products/processors.hpp"

namespace tessera {

/// The tiles of a kind of processor with so many rows, and so many bytes of columns. Each has a
/// register of sums for each vector of its cells; two or three more hold what is multiplied.
template <class Processor, std::size_t rows, std::size_t bytes>
[[nodiscard]] constexpr ProcessorProducts products_with_tiles(char const* name) {
  using Float = RealTile<float, rows, bytes / 4>;
  using Double = RealTile<double, rows, bytes / 8>;
  using ComplexFloat = ComplexTile<float, rows, bytes / 8>;
  using ComplexDouble = ComplexTile<double, rows, bytes / 16>;
  return {
      name,
      {&Multiplier<Processor, RealTile<std::uint8_t, rows, bytes / 2>>::multiply,
       &Multiplier<Processor, RealTile<std::uint16_t, rows, bytes / 2>>::multiply,
       &Multiplier<Processor, RealTile<std::uint32_t, rows, bytes / 4>>::multiply,
       &Multiplier<Processor, RealTile<std::uint64_t, rows, bytes / 8>>::multiply,
       &Multiplier<Processor, Float, float16>::multiply,
       &Multiplier<Processor, Float, bfloat16>::multiply, &Multiplier<Processor, Float>::multiply,
       &Multiplier<Processor, Double>::multiply, &Multiplier<Processor, ComplexFloat>::multiply,
       &Multiplier<Processor, ComplexDouble>::multiply}};
}

/// Code that runs on any processor.
struct AnyProcessor {
  template <class F, class... Arguments>
  [[gnu::noinline]] static void run(Arguments... arguments) {
    F::run(arguments...);
  }
};
inline constexpr ProcessorProducts products_for_any_processor =
    products_with_tiles<AnyProcessor, 6, 64>("any processor");

}  // namespace tessera
