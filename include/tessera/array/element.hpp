#pragma once
/// @file
/// What may be an element of an array.

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace tessera {

/// Anything that can be copied byte by byte.
template <class T>
concept Element = std::is_trivially_copyable_v<T> && std::is_object_v<T> && !std::is_const_v<T> &&
                  !std::is_array_v<T>;

/// The name of an element type, as NumPy has it; "struct" and its size for others.
template <Element T>
[[nodiscard]] std::string dtype_name() {
  auto const bits = std::to_string(8 * sizeof(T));
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_floating_point_v<T>) return "float" + bits;
  if constexpr (std::is_integral_v<T>) return (std::is_signed_v<T> ? "int" : "uint") + bits;
  return "struct of " + std::to_string(sizeof(T)) + " bytes";
}

}  // namespace tessera
