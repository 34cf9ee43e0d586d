#pragma once
/// @file
/// Statements in templates that two objects of a program share, one of g++ and one of nvcc.

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tessera/tessera.hpp>

/// Which compiler made the copy of this template that the linker kept. On purpose no two copies are
/// the same.
template <class T>
[[gnu::noinline]] char const* linked_copy() {
#ifdef __CUDACC__
  return "nvcc";
#else
  return "g++";
#endif
}

template <class T>
[[nodiscard]] auto expression(tessera::DistArray<T, 1> const& u) {
  return 0.5 * u + 0.5 * tessera::roll(u, 1);
}

/// An assignment, a reduction to a scalar, and one along a dimension.
template <class T>
[[gnu::noinline]] T step(tessera::DistArray<T, 1>& u, tessera::DistArray<T, 2> const& v) {
  u = expression(u);
  u = tessera::sum(v, tessera::axis(0));
  return tessera::sum(u);
}

/// Whether the slots of these statements are filled.
template <class T>
struct Slots {
  using Node = decltype(expression(std::declval<tessera::DistArray<T, 1> const&>()));
  using Kernel = std::remove_cvref_t<decltype(make_kernel(
      std::declval<Node const&>(), std::declval<tessera::detail::Builder&>()))>;
  using Cells = tessera::detail::OperandKernel<T>;
  using Sum = tessera::detail::SumOf<T>;

  [[nodiscard]] static bool assignment() {
    return tessera::detail::gpu_assignment<Kernel, T, 1> != nullptr;
  }
  [[nodiscard]] static bool reduction() {
    return tessera::detail::gpu_reduction<Cells, Sum, 1> != nullptr;
  }
  [[nodiscard]] static bool fold() {
    return tessera::detail::gpu_fold<tessera::detail::FoldKernel<Cells>, Sum, T, 2> != nullptr;
  }
};

/// The same step, called from the other object.
double step_of_other_object(tessera::DistArray<double, 1>& u,
                            tessera::DistArray<double, 2> const& v);
