#pragma once
/// @file
/// The accumulators of reductions: trivially copyable, and they accept their terms in any order.
///
/// The host uses add_row, for a row of many terms at once. A GPU thread uses add_term, or add_terms
/// if a few terms at once are faster.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/array/expr/row.hpp"
#include "tessera/detail/ops/binned_sum.hpp"
#include "tessera/detail/ops/wide_product.hpp"

namespace tessera::detail {

/// NumPy's type of a sum: integers widen to 64 bits, floating and complex types stay.
template <class T>
using sum_type =
    std::conditional_t<is_floating<T> || is_complex<T>, T,
                       std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>,
                                          std::uint64_t, std::int64_t>>;

/// Calls take(span of doubles) for all terms of a row. Contiguous doubles are not copied.
template <class Row, class Take>
void take_doubles(Row const& row, std::int64_t count, Take const& take) {
  if constexpr (std::is_same_v<Row, UnitRow<double>>) {
    take(std::span<double const>(row.first, static_cast<std::size_t>(count)));
  } else {
    constexpr std::int64_t piece = 1024;
    std::array<double, piece> buffer;
    for (std::int64_t first = 0; first < count; first += piece) {
      auto const n = std::min(piece, count - first);
#pragma GCC ivdep
      for (std::int64_t j = 0; j < n; ++j)
        buffer[static_cast<std::size_t>(j)] = static_cast<double>(row(first + j));
      take(std::span<double const>(buffer.data(), static_cast<std::size_t>(n)));
    }
  }
}

/// Calls take(real parts, imaginary parts), both spans of doubles, for all terms of a row.
template <class Row, class Take>
void take_parts(Row const& row, std::int64_t count, Take const& take) {
  constexpr std::int64_t piece = 1024;
  std::array<double, piece> real;
  std::array<double, piece> imaginary;
  for (std::int64_t first = 0; first < count; first += piece) {
    auto const n = std::min(piece, count - first);
#pragma GCC ivdep
    for (std::int64_t j = 0; j < n; ++j) {
      auto const term = row(first + j);
      real[static_cast<std::size_t>(j)] = static_cast<double>(term.real());
      imaginary[static_cast<std::size_t>(j)] = static_cast<double>(term.imag());
    }
    auto const size = static_cast<std::size_t>(n);
    take(std::span<double const>(real.data(), size),
         std::span<double const>(imaginary.data(), size));
  }
}

/// Terms that one operation combines exactly, in any order. A term counts as a `Term`; the result
/// is a T.
template <class T, class State, class Op, State start, class Term = State>
struct Combined {
  static constexpr bool adds_singly = true;
  State state = start;
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) add_term(row(j));
  }
  template <class Given>
  TESSERA_FUNCTION void add_term(Given const& term) {
    state = Op::apply(state, convert<State>(convert<Term>(term)));
  }
  TESSERA_FUNCTION void merge(Combined const& other) { state = Op::apply(state, other.state); }
  [[nodiscard]] TESSERA_FUNCTION T value(double) const { return static_cast<T>(state); }
};

/// Integers add up and multiply exactly modulo 2^64.
template <class T>
using IntegerSum = Combined<T, std::uint64_t, Add, 0>;
template <class T>
using IntegerProduct = Combined<T, std::uint64_t, Multiply, 1>;
using AllTrue = Combined<bool, bool, BitAnd, true>;
using AnyTrue = Combined<bool, bool, BitOr, false>;
/// How many are not zero.
using CountTrue = Combined<std::int64_t, std::int64_t, Add, 0, bool>;

// Final transformations of a sum.
struct Itself {
  TESSERA_FUNCTION static double apply(double sum, double) { return sum; }
};
struct Divided {
  TESSERA_FUNCTION static double apply(double sum, double divisor) { return sum / divisor; }
};
struct Root {
  TESSERA_FUNCTION static double apply(double sum, double) { return std::sqrt(sum); }
};
struct RootOfDivided {
  TESSERA_FUNCTION static double apply(double sum, double divisor) {
    return std::sqrt(sum / divisor);
  }
};

/// Sums by fixed bins; float is converted exactly to double first, and back at the end.
template <class T, class Finish = Itself>
struct FloatingSum {
  BinnedSum sum;
  template <class Row>
  void add_row(Row const& row, std::int64_t count) {
    take_doubles(row, count, [this](std::span<double const> terms) { sum.add(terms); });
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term term) {
    sum.add_term(static_cast<double>(term));
  }
  template <class Term, std::size_t n>
  TESSERA_FUNCTION void add_terms(Term const (&terms)[n]) {
    double converted[n];
    for (std::size_t i = 0; i < n; ++i) converted[i] = static_cast<double>(terms[i]);
    sum.add_terms(converted);
  }
  TESSERA_FUNCTION void merge(FloatingSum const& other) { sum.merge(other.sum); }
  struct Packed {
    BinnedSum::Packed sum;
  };
  [[nodiscard]] TESSERA_FUNCTION Packed packed() const { return {sum.packed()}; }
  TESSERA_FUNCTION void merge(Packed const& other) { sum.merge(other.sum); }
  [[nodiscard]] TESSERA_FUNCTION T value(double parameter) const {
    return static_cast<T>(Finish::apply(sum.value(), parameter));
  }
};

/// The sums of the real and of the imaginary parts.
template <class T, class Finish = Itself>
struct ComplexSum {
  BinnedSum real;
  BinnedSum imaginary;
  template <class Row>
  void add_row(Row const& row, std::int64_t count) {
    take_parts(row, count, [this](std::span<double const> re, std::span<double const> im) {
      real.add(re);
      imaginary.add(im);
    });
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term const& term) {
    real.add_term(static_cast<double>(term.real()));
    imaginary.add_term(static_cast<double>(term.imag()));
  }
  template <class Term, std::size_t n>
  TESSERA_FUNCTION void add_terms(Term const (&terms)[n]) {
    double parts[2][n];
    for (std::size_t i = 0; i < n; ++i) {
      parts[0][i] = static_cast<double>(terms[i].real());
      parts[1][i] = static_cast<double>(terms[i].imag());
    }
    real.add_terms(parts[0]);
    imaginary.add_terms(parts[1]);
  }
  TESSERA_FUNCTION void merge(ComplexSum const& other) {
    real.merge(other.real);
    imaginary.merge(other.imaginary);
  }
  struct Packed {
    BinnedSum::Packed real;
    BinnedSum::Packed imaginary;
  };
  [[nodiscard]] TESSERA_FUNCTION Packed packed() const {
    return {real.packed(), imaginary.packed()};
  }
  TESSERA_FUNCTION void merge(Packed const& other) {
    real.merge(other.real);
    imaginary.merge(other.imaginary);
  }
  [[nodiscard]] TESSERA_FUNCTION T value(double parameter) const {
    return convert<T>(std::complex<double>(Finish::apply(real.value(), parameter),
                                           Finish::apply(imaginary.value(), parameter)));
  }
};

/// The sum of floating or complex terms, with a final transformation.
template <class T, class Finish = Itself>
using FinishedSum =
    std::conditional_t<is_complex<T>, ComplexSum<T, Finish>, FloatingSum<T, Finish>>;

/// Adds terms as they come, in lanes that the compiler vectorises: the last bits depend on the
/// order.
template <class T>
struct FastSum {
  static constexpr bool depends_on_order = true;
  double sum = 0;
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    constexpr std::int64_t lanes = 32;
    double partial[lanes] = {};
    std::int64_t first = 0;
    for (; first + lanes <= count; first += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        partial[lane] += static_cast<double>(row(first + lane));
    for (; first < count; ++first) sum += static_cast<double>(row(first));
    for (double const part : partial) sum += part;
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term term) {
    sum += static_cast<double>(term);
  }
  TESSERA_FUNCTION void merge(FastSum const& other) { sum += other.sum; }
  [[nodiscard]] TESSERA_FUNCTION T value(double) const { return static_cast<T>(sum); }
};

template <class T>
using SumOf =
    std::conditional_t<is_floating<T> || is_complex<T>, FinishedSum<T>, IntegerSum<sum_type<T>>>;

template <class T>
struct FloatingProduct {
  WideProduct product;
  template <class Row>
  void add_row(Row const& row, std::int64_t count) {
    take_doubles(row, count, [this](std::span<double const> terms) { product.multiply(terms); });
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term term) {
    product.multiply(static_cast<double>(term));
  }
  TESSERA_FUNCTION void merge(FloatingProduct const& other) { product.merge(other.product); }
  [[nodiscard]] TESSERA_FUNCTION T value(double) const { return static_cast<T>(product.value()); }
};

template <class T>
struct ComplexProduct {
  static constexpr bool depends_on_order = true;  // where a part is far smaller than the other
  WideComplexProduct product;
  template <class Row>
  void add_row(Row const& row, std::int64_t count) {
    take_parts(row, count, [this](std::span<double const> re, std::span<double const> im) {
      product.multiply(re, im);
    });
  }
  template <class Term>
  TESSERA_FUNCTION void add_term(Term const& term) {
    product.multiply(static_cast<double>(term.real()), static_cast<double>(term.imag()));
  }
  TESSERA_FUNCTION void merge(ComplexProduct const& other) { product.merge(other.product); }
  [[nodiscard]] TESSERA_FUNCTION T value(double) const { return convert<T>(product.value()); }
};

template <class T>
using ProductOf = std::conditional_t<
    is_complex<T>, ComplexProduct<T>,
    std::conditional_t<is_floating<T>, FloatingProduct<T>, IntegerProduct<sum_type<T>>>>;

/// The smallest or largest element; NaN if there is one, as in NumPy.
template <class T, class Op>
struct Extreme {
  T best{};
  bool any = false;
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    if (count == 0) return;
    constexpr std::int64_t lanes = 16;  // independent, so that none waits for the previous one
    T found[lanes];
    T const start = any ? best : row(0);
    for (T& one : found) one = start;
    std::int64_t first = 0;
    for (; first + lanes <= count; first += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        found[lane] = Op::apply(found[lane], row(first + lane));
    for (; first < count; ++first) found[0] = Op::apply(found[0], row(first));
    best = found[0];
    for (T const one : found) best = Op::apply(best, one);
    any = true;
  }
  TESSERA_FUNCTION void add_term(T term) {
    best = any ? Op::apply(best, term) : term;
    any = true;
  }
  TESSERA_FUNCTION void merge(Extreme const& other) {
    if (other.any) add_term(other.best);
  }
  /// The result must not reveal which of two zeros or NaNs came first: all zeros become +0, and all
  /// NaNs become one NaN.
  [[nodiscard]] TESSERA_FUNCTION T value(double) const {
    if constexpr (is_floating<T>) {
      if (best != best) return std::numeric_limits<T>::quiet_NaN();
      if (best == 0) return 0;
    }
    return best;
  }
};

/// An element and its number.
template <class T>
struct Indexed {
  T value;
  std::int64_t index;
};

/// The number of the smallest or largest element, the first of equal ones; NaN is before all
/// others, as in NumPy.
template <class T, class Before>
struct ArgExtreme {
  Indexed<T> best{T{}, -1};
  template <class Row>
  TESSERA_FUNCTION void add_row(Row const& row, std::int64_t count) {
    for (std::int64_t j = 0; j < count; ++j) add_term(row(j));
  }
  TESSERA_FUNCTION void add_term(Indexed<T> const& one) {
    bool const wins = best.index < 0 || comes_before(one.value, best.value) ||
                      (one.index < best.index && !comes_before(best.value, one.value));
    if (wins) best = one;
  }
  TESSERA_FUNCTION void merge(ArgExtreme const& other) {
    if (other.best.index >= 0) add_term(other.best);
  }
  [[nodiscard]] TESSERA_FUNCTION std::int64_t value(double) const { return best.index; }

 private:
  TESSERA_FUNCTION static bool comes_before(T a, T b) {
    if constexpr (is_floating<T>)
      if (a != a || b != b) return a != a && b == b;
    return Before::apply(a, b);
  }
};

}  // namespace tessera::detail
