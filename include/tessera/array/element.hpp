#pragma once
/// @file
/// What may be an element of an array, and what may stand on the right of an assignment.

#include <complex>
#include <concepts>
#include <string>
#include <type_traits>

#include "tessera/base/half.hpp"

namespace tessera {

/// The root of everything that can stand on the right of an assignment.
struct ExpressionBase {};

/// Anything that may stand on the right of an assignment: arrays, slices, and expressions of them.
template <class E>
concept Expression = std::derived_from<E, ExpressionBase>;

/// An expression of bools, cell by cell: u(mask) = value.
template <class E>
concept Mask = Expression<E> && std::same_as<typename E::value_type, bool>;

/// Anything that can be copied byte by byte.
template <class T>
concept Element = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T> &&
                  !std::is_array_v<T>;

namespace detail {

template <class T>
inline constexpr bool is_half = false;
template <class Format>
inline constexpr bool is_half<Half<Format>> = true;

template <class T>
inline constexpr bool is_complex = false;
template <>
inline constexpr bool is_complex<std::complex<float>> = true;
template <>
inline constexpr bool is_complex<std::complex<double>> = true;

/// The floating types of C++ and those of 16 bits.
template <class T>
inline constexpr bool is_floating = std::is_floating_point_v<T> || is_half<T>;

/// What a number is made of: R for std::complex<R>, any other type itself.
template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using real_of = typename RealOf<T>::type;

/// A C++ number, which is weak beside an array.
template <class T>
concept Number = std::is_arithmetic_v<T> || is_complex<T> || is_half<T>;

/// A value that can be written into elements of type T: also a complex number of another width.
template <class V, class T>
concept ValueFor = std::is_convertible_v<V, T> ||(is_complex<V>&& is_complex<T>);

}  // namespace detail

/// The name of an element type, as NumPy has it; "struct" and its size for others.
template <Element T>
[[nodiscard]] std::string dtype_name() {
  auto const bits = std::to_string(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, bfloat16>) return "bfloat16";
  if constexpr (detail::is_complex<T>) return "complex" + bits;
  if constexpr (detail::is_floating<T>) return "float" + bits;
  if constexpr (std::is_integral_v<T>) return (std::is_signed_v<T> ? "int" : "uint") + bits;
  return "struct of " + std::to_string(sizeof(T)) + " bytes";
}

}  // namespace tessera
