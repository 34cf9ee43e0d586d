#pragma once
/// @file
/// Rows that are written with non-temporal stores, a vector at a time.
///
/// A store through the caches first reads the line that it writes to. If a row is longer than the
/// caches, its lines are evicted before any reader needs them, and reading them first is a third of
/// the memory traffic.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <utility>

#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/array/expr/row.hpp"

namespace tessera::detail {

#ifdef __AVX2__

/// Neighbouring cells that are computed together, each as if alone.
template <class T>
struct VectorOf;
template <>
struct VectorOf<double> {
  using type [[gnu::vector_size(32)]] = double;
};
template <>
struct VectorOf<float> {
  using type [[gnu::vector_size(32)]] = float;
};
template <class T>
using Vector = typename VectorOf<T>::type;

/// How many cells a vector and a line of the caches hold.
template <class T>
inline constexpr std::int64_t vector_cells = sizeof(Vector<T>) / sizeof(T);
template <class T>
inline constexpr std::int64_t line_cells = 64 / sizeof(T);

/// Operations that processors have for vectors, with the results they have for single numbers.
template <class Op>
concept VectorOperation = std::same_as<Op, Add> || std::same_as<Op, Subtract> ||
    std::same_as<Op, Multiply> || std::same_as<Op, Divide>
#ifdef __FMA__
    || std::same_as<Op, KeepFactors>
#endif
    ;

/// Applies the operation as for single numbers. Does not call the operation's own function, which
/// also exists on GPUs, because GPUs have no such vectors.
template <VectorOperation Op, class V>
[[nodiscard]] auto apply_to_vectors(V a, V b) {
  if constexpr (std::same_as<Op, Add>)
    return a + b;
  else if constexpr (std::same_as<Op, Subtract>)
    return a - b;
  else if constexpr (std::same_as<Op, Multiply>)
    return a * b;
  else if constexpr (std::same_as<Op, Divide>)
    return a / b;
  else
    return Factors<V>{a, b};
}
#ifdef __FMA__
inline Vector<double> fused_vectors(Vector<double> a, Vector<double> b, Vector<double> c) {
  return __builtin_ia32_vfmaddpd256(a, b, c);
}
inline Vector<float> fused_vectors(Vector<float> a, Vector<float> b, Vector<float> c) {
  return __builtin_ia32_vfmaddps256(a, b, c);
}
template <VectorOperation Op, class V>
[[nodiscard]] V apply_to_vectors(Factors<V> product, V c) {
  return fused_vectors(product.a, product.b, std::same_as<Op, Add> ? c : -c);
}
template <VectorOperation Op, class V>
[[nodiscard]] V apply_to_vectors(V c, Factors<V> product) {
  return fused_vectors(std::same_as<Op, Add> ? product.a : -product.a, product.b, c);
}
#endif

// vector_at(row, j): the row's cells from j on. Rows without it, such as those that call functions
// or convert, are written through the caches.

template <class T>
[[nodiscard]] Vector<T> vector_at(UnitRow<T> const& row, std::int64_t j) {
  Vector<T> result;
  std::memcpy(&result, row.first + j, sizeof(result));
  return result;
}
template <class T>
[[nodiscard]] Vector<T> vector_at(ConstantRow<T> const& row, std::int64_t) {
  return row.value - Vector<T>{};
}

template <class V, class T>
concept VectorsOf = std::same_as<V, Vector<T>> || std::same_as<V, Factors<Vector<T>>>;
template <class Row, class T>
concept HasVectors = requires(Row const& row) {
  { vector_at(row, std::int64_t{}) } -> VectorsOf<T>;
};

template <VectorOperation Op, class C, class A, class B>
requires(HasVectors<A, C>&& HasVectors<B, C>)
    [[nodiscard]] auto vector_at(OperationRow<Op, C, A, B> const& row, std::int64_t j) {
  return apply_to_vectors<Op>(vector_at(row.a, j), vector_at(row.b, j));
}

// Built-in functions, since the header with the names of instructions takes long to compile.
#ifdef __clang__
template <class T>
void store_non_temporal(T* to, Vector<T> value) {
  __builtin_nontemporal_store(value, reinterpret_cast<Vector<T>*>(to));
}
#else
inline void store_non_temporal(double* to, Vector<double> value) {
  __builtin_ia32_movntpd256(to, value);
}
inline void store_non_temporal(float* to, Vector<float> value) {
  __builtin_ia32_movntps256(to, value);
}
#endif

/// As assign_rows, of a target that the expression does not read.
template <class Kernel, class T>
void assign_rows_non_temporal(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const count = call.extents->back();
  auto row = static_cast<Kernel const*>(call.kernel)->template row<true>(call);
  RowOfCells<T> target{reinterpret_cast<T*>(call.target), call.target_strides};
  auto const write = [&] {
    auto const cells = row;
    T* const to = target.first;
    auto const cells_past_line =
        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(T)) % line_cells<T>;
    auto const before_line = std::min((line_cells<T> - cells_past_line) % line_cells<T>, count);
    std::int64_t j = 0;
    for (; j < before_line; ++j) to[j] = cells(j);
    // A line is fastest written whole at once.
    for (; j + line_cells<T> <= count; j += line_cells<T>) {
      auto const low = vector_at(cells, j);
      auto const high = vector_at(cells, j + vector_cells<T>);
      store_non_temporal(to + j, low);
      store_non_temporal(to + j + vector_cells<T>, high);
    }
    for (; j < count; ++j) to[j] = cells(j);
  };
  visit_rows(*call.extents, first, last, write, row, target);
  __builtin_ia32_sfence();  // before anything that is stored after
}

/// The form of a kernel that uses non-temporal stores; null if there is none.
template <class Kernel, class T>
[[nodiscard]] KernelFunction non_temporal_form() {
  if constexpr (std::same_as<T, double> || std::same_as<T, float>) {
    using Row = decltype(std::declval<Kernel const&>().template row<true>(
        std::declval<KernelCall const&>()));
    if constexpr (HasVectors<Row, T>) return &assign_rows_non_temporal<Kernel, T>;
  }
  return nullptr;
}

#else

template <class Kernel, class T>
[[nodiscard]] KernelFunction non_temporal_form() {
  return nullptr;
}

#endif

}  // namespace tessera::detail
