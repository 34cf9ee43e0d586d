#pragma once
/// @file
/// u(...): slices of arrays, views and expressions.

#include <concepts>
#include <cstddef>
#include <source_location>

#include "tessera/array/slice.hpp"
#include "tessera/base/source.hpp"

namespace tessera::detail {

template <std::size_t N, class... S>
concept Selects =
    (Selector<S> && ...) && selected_dimensions<S...> == N&& kept_dimensions<S...> <= max_rank;

// u(...) of up to 8 selectors, for a const `Self` or another one.
#define TESSERA_SLICES(qualifier)                                                                \
  template <class A>                                                                             \
  requires(Selects<N, A>) [[nodiscard]] auto operator()(                                         \
      A a, std::source_location at = std::source_location::current()) qualifier {                \
    return self().sliced(at, a);                                                                 \
  }                                                                                              \
  template <class A, class B>                                                                    \
  requires(Selects<N, A, B>) [[nodiscard]] auto operator()(                                      \
      A a, B b, std::source_location at = std::source_location::current()) qualifier {           \
    return self().sliced(at, a, b);                                                              \
  }                                                                                              \
  template <class A, class B, class C>                                                           \
  requires(Selects<N, A, B, C>) [[nodiscard]] auto operator()(                                   \
      A a, B b, C c, std::source_location at = std::source_location::current()) qualifier {      \
    return self().sliced(at, a, b, c);                                                           \
  }                                                                                              \
  template <class A, class B, class C, class D>                                                  \
  requires(Selects<N, A, B, C, D>) [[nodiscard]] auto operator()(                                \
      A a, B b, C c, D d, std::source_location at = std::source_location::current()) qualifier { \
    return self().sliced(at, a, b, c, d);                                                        \
  }                                                                                              \
  template <class A, class B, class C, class D, class E>                                         \
  requires(Selects<N, A, B, C, D, E>) [[nodiscard]] auto operator()(                             \
      A a, B b, C c, D d, E e, std::source_location at = std::source_location::current())        \
      qualifier {                                                                                \
    return self().sliced(at, a, b, c, d, e);                                                     \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F>                                \
  requires(Selects<N, A, B, C, D, E, F>) [[nodiscard]] auto operator()(                          \
      A a, B b, C c, D d, E e, F f, std::source_location at = std::source_location::current())   \
      qualifier {                                                                                \
    return self().sliced(at, a, b, c, d, e, f);                                                  \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F, class G>                       \
  requires(Selects<N, A, B, C, D, E, F, G>) [[nodiscard]] auto operator()(                       \
      A a, B b, C c, D d, E e, F f, G g,                                                         \
      std::source_location at = std::source_location::current()) qualifier {                     \
    return self().sliced(at, a, b, c, d, e, f, g);                                               \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F, class G, class H>              \
  requires(Selects<N, A, B, C, D, E, F, G, H>) [[nodiscard]] auto operator()(                    \
      A a, B b, C c, D d, E e, F f, G g, H h,                                                    \
      std::source_location at = std::source_location::current()) qualifier {                     \
    return self().sliced(at, a, b, c, d, e, f, g, h);                                            \
  }

/// u(...) for everything of N dimensions whose cells can be selected from.
///
/// A slice by Python's rules: a Range or `all` per dimension, or an integer, which drops it;
/// `newaxis` adds one. What a const array shows can only be read.
/// Ranks:   local.
/// Throws:  IndexError for an integer outside; ranges are clamped.
/// Example: u(range(1, -1), 0) shows column 0 without its first and last cell.
template <class Self, std::size_t N>
class Sliceable {
 public:
  TESSERA_SLICES()
  TESSERA_SLICES(const)

 private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
  [[nodiscard]] Self const& self() const { return static_cast<Self const&>(*this); }
};
#undef TESSERA_SLICES

/// The same for an expression: the slice is the expression of its sliced operands.
template <class Self, std::size_t N>
class SliceableNode : public Sliceable<Self, N> {
 public:
  [[nodiscard]] Shape shape() const { return Shape(static_cast<Self const&>(*this).extents()); }
  template <class... S>
  [[nodiscard]] auto sliced(SourceLocation const& at, S const&... selectors) const {
    return sliced_node(static_cast<Self const&>(*this), at, selectors...);
  }
};

}  // namespace tessera::detail
