#pragma once
/// @file
/// The type of what two operands make: NumPy's rules.

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace tessera::detail {

template <std::size_t bytes>
struct SignedOf {
  using type = double;  // as NumPy: uint64 with a signed type becomes float64
};
template <>
struct SignedOf<2> {
  using type = std::int16_t;
};
template <>
struct SignedOf<4> {
  using type = std::int32_t;
};
template <>
struct SignedOf<8> {
  using type = std::int64_t;
};

/// Two different arithmetic types. Integers of 4 bytes and more need a double beside a float.
template <class A, class B>
struct Promote {
  static constexpr bool same_sign = std::is_signed_v<A> == std::is_signed_v<B>;
  using Wider = std::conditional_t<(sizeof(A) >= sizeof(B)), A, B>;
  using Signed = std::conditional_t<std::is_signed_v<A>, A, B>;
  using Unsigned = std::conditional_t<std::is_signed_v<A>, B, A>;
  using Mixed = std::conditional_t<(sizeof(Signed) > sizeof(Unsigned)), Signed,
                                   typename SignedOf<2 * sizeof(Unsigned)>::type>;
  using Integers = std::conditional_t<same_sign, Wider, Mixed>;

  using Float = std::conditional_t<std::is_floating_point_v<A>, A, B>;
  using Other = std::conditional_t<std::is_floating_point_v<A>, B, A>;
  using WithInteger = std::conditional_t<(sizeof(Other) > 2 && sizeof(Float) < 8), double, Float>;

  using type = std::conditional_t<
      std::is_floating_point_v<A> && std::is_floating_point_v<B>, Wider,
      std::conditional_t<std::is_floating_point_v<A> || std::is_floating_point_v<B>, WithInteger,
                         Integers>>;
};
template <class A>
struct Promote<A, A> {
  using type = A;
};
template <class A>
requires(!std::same_as<A, bool>) struct Promote<A, bool> {
  using type = A;
};
template <class B>
requires(!std::same_as<B, bool>) struct Promote<bool, B> {
  using type = B;
};

/// Arithmetic types by NumPy's table; other types only with themselves.
template <class A, class B>
using promoted = typename Promote<A, B>::type;

/// The type of an array of T with a C++ scalar of type S, which is weak: it only raises the kind
/// (bool, integer, floating), never the width.
template <class T, class S>
struct Weak {
  static constexpr bool to_float = std::is_floating_point_v<S> && !std::is_floating_point_v<T>;
  static constexpr bool to_integer =
      std::is_integral_v<S> && !std::same_as<S, bool> && std::same_as<T, bool>;
  using type =
      std::conditional_t<to_float, double, std::conditional_t<to_integer, std::int64_t, T>>;
};
template <class T, class S>
using weakly_promoted = typename Weak<T, S>::type;

/// The result of a function like sqrt: floating types stay, all others become double.
template <class T>
using floating_of = std::conditional_t<std::is_floating_point_v<T>, T, double>;

}  // namespace tessera::detail
