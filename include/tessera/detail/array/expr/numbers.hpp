#pragma once
/// @file
/// Passes the numbers of a program to a visitor that knows no element type.

#include <span>
#include <type_traits>

#include "tessera/array/element.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::detail {

/// Sets the bytes between the members of a value to zero, where the compiler has a way.
#if defined(__GNUC__) && !defined(__clang__)
inline constexpr bool clears_padding = true;
void clear_padding(auto& value) {
  __builtin_clear_padding(&value);
}
#else
inline constexpr bool clears_padding = false;
void clear_padding(auto&) {}
#endif

/// Passes a number to a visitor. Leaves out a struct whose padding this compiler cannot clear.
template <class T>
void visit_number(T value, NumberVisitor& visitor) {
  if constexpr (is_complex<T>) {
    visitor.real(value.real());
    visitor.real(value.imag());
  } else if constexpr (is_half<T>) {
    visitor.real(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    visitor.real(value);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    visitor.signed_integer(value);
  } else if constexpr (std::is_integral_v<T>) {
    visitor.unsigned_integer(value);
  } else if constexpr (clears_padding || std::has_unique_object_representations_v<T>) {
    clear_padding(value);
    visitor.structure(std::as_bytes(std::span(&value, 1)));
  }
}

}  // namespace tessera::detail
