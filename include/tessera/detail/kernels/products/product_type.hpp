#pragma once
/// @file
/// The cell types for which products are defined.

#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "tessera/base/half.hpp"

namespace tessera::detail {

/// The arithmetic of a product. Integers, signed ones too, are multiplied modulo 2^bits.
enum class ProductType : std::uint8_t {
  bits8,
  bits16,
  bits32,
  bits64,
  float16,   ///< computed in float, rounded once at the end
  bfloat16,  ///< as float16
  float32,
  float64,
  complex64,  ///< pairs of float
  complex128
};

/// True for the cell types that have products: all numbers but bool.
template <class T>
inline constexpr bool has_products =
    (std::integral<T> && !std::same_as<T, bool>) || std::same_as<T, float16> ||
    std::same_as<T, bfloat16> || std::same_as<T, float> || std::same_as<T, double> ||
    std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

/// The ProductType of cells of type T.
template <class T>
requires has_products<T>
[[nodiscard]] constexpr ProductType product_type_of() {
  if constexpr (std::integral<T>)
    return sizeof(T) == 1   ? ProductType::bits8
           : sizeof(T) == 2 ? ProductType::bits16
           : sizeof(T) == 4 ? ProductType::bits32
                            : ProductType::bits64;
  else if constexpr (std::same_as<T, float16>)
    return ProductType::float16;
  else if constexpr (std::same_as<T, bfloat16>)
    return ProductType::bfloat16;
  else if constexpr (std::same_as<T, float>)
    return ProductType::float32;
  else if constexpr (std::same_as<T, double>)
    return ProductType::float64;
  else
    return std::same_as<T, std::complex<float>> ? ProductType::complex64 : ProductType::complex128;
}

}  // namespace tessera::detail
