#pragma once
/// @file
/// Products that are fused into the sum above them: what contract() makes of Multiply.

#include <cmath>
#include <complex>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/base/function.hpp"

namespace tessera::detail {

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
