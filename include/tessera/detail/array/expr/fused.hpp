#pragma once
/// @file
/// Products beside sums: those that contract() fuses into them, and those of complex numbers, which
/// no compiler may fuse.

#include <cmath>
#include <complex>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

// g++ fuses the products of complex numbers in its vectors, whatever -ffp-contract says: it has a
// vector instruction for the alternation of plus and minus. This keeps the two apart.
#if !defined(__clang__) && !defined(TESSERA_COMPILES_FOR_GPUS) && defined(__has_builtin)
#if __has_builtin(__builtin_assoc_barrier)
#define TESSERA_ROUNDED(x) __builtin_assoc_barrier(x)
#endif
#endif
#ifndef TESSERA_ROUNDED
#define TESSERA_ROUNDED(x) (x)
#endif
/// A product that is rounded before it is added.
template <class R>
[[nodiscard]] TESSERA_FUNCTION R rounded(R product) {
  return TESSERA_ROUNDED(product);
}
#undef TESSERA_ROUNDED

// Complex arithmetic as in NumPy: by the plain formulas, which the compiler vectorises. C++'s own
// operators first look for infinities among NaNs.
template <class R>
TESSERA_FUNCTION std::complex<R> product_of(std::complex<R> a, std::complex<R> b) {
  return {rounded(a.real() * b.real()) - rounded(a.imag() * b.imag()),
          rounded(a.real() * b.imag()) + rounded(a.imag() * b.real())};
}
/// Divides by the larger part first, so that no square overflows.
/// Source: Smith, Algorithm 116: Complex division (1962).
template <class R>
TESSERA_FUNCTION std::complex<R> quotient_of(std::complex<R> a, std::complex<R> b) {
  bool const real_is_larger = std::fabs(b.real()) >= std::fabs(b.imag());
  R const larger = real_is_larger ? b.real() : b.imag();
  R const smaller = real_is_larger ? b.imag() : b.real();
  if (larger == 0) return {a.real() / std::fabs(larger), a.imag() / std::fabs(larger)};
  R const ratio = smaller / larger;
  R const scale = R{1} / (larger + smaller * ratio);
  R const real = rounded(a.real() * ratio), imaginary = rounded(a.imag() * ratio);
  if (real_is_larger) return {(a.real() + imaginary) * scale, (a.imag() - real) * scale};
  return {(real + a.imag()) * scale, (imaginary - a.real()) * scale};
}

/// The factors of a product that a sum rounds together with its other operand.
template <class C>
struct Factors {
  C a;
  C b;
};
template <class C>
TESSERA_FUNCTION Factors<C> convert(Factors<C> product) {
  return product;
}

/// a * b + c without rounding the product; of complex numbers part by part, with two roundings.
template <class C>
TESSERA_FORMULA C fused(Factors<C> product, C c) {
  auto const& [a, b] = product;
  if constexpr (is_complex<C>)
    return {std::fma(a.real(), b.real(), std::fma(-a.imag(), b.imag(), c.real())),
            std::fma(a.real(), b.imag(), std::fma(a.imag(), b.real(), c.imag()))};
  else
    return static_cast<C>(std::fma(static_cast<Computed<C>>(a), static_cast<Computed<C>>(b),
                                   static_cast<Computed<C>>(c)));
}

/// The sum of a product and a number.
struct SumOfFactors {
  template <class C>
  TESSERA_FUNCTION static C apply(Factors<C> product, C c) {
    return fused(product, c);
  }
  template <class C>
  TESSERA_FUNCTION static C apply(C c, Factors<C> product) {
    return fused(product, c);
  }
};
/// The difference of a product and a number.
struct DifferenceOfFactors {
  template <class C>
  TESSERA_FUNCTION static C apply(Factors<C> product, C c) {
    return fused(product, static_cast<C>(-c));
  }
  template <class C>
  TESSERA_FUNCTION static C apply(C c, Factors<C> product) {
    return fused({static_cast<C>(-product.a), product.b}, c);
  }
};

/// A product that the sum or difference above it rounds.
struct KeepFactors {
  template <class C>
  TESSERA_FUNCTION static Factors<C> apply(C a, C b) {
    return {a, b};
  }
};
/// A product of complex numbers with the first product of each part fused into the sum.
struct MultiplyFused {
  template <class R>
  TESSERA_FUNCTION static std::complex<R> apply(std::complex<R> a, std::complex<R> b) {
    return {std::fma(a.real(), b.real(), -(a.imag() * b.imag())),
            std::fma(a.real(), b.imag(), a.imag() * b.real())};
  }
};

}  // namespace tessera::detail
