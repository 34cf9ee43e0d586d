#pragma once
/// @file
/// A slice of an array: it keeps the array's cells alive and is read when it is assigned, not when
/// it is made.

#include <array>
#include <concepts>
#include <source_location>
#include <utility>
#include <vector>

#include "tessera/array/element.hpp"
#include "tessera/array/slice.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/detail/array/expr/array_node.hpp"

namespace tessera {

template <Element T, std::size_t N>
class DistArray;

template <class T, std::size_t N, std::size_t R>
class View;

namespace detail {

/// Writes the cells for which the mask is true: what `target(mask) = value` calls, for a view or a
/// member of one.
///
/// Throws:  ShapeError if mask or value do not broadcast to the target.
/// Cost:    that of where(mask, value, target).
template <class Target, class M, class V>
void assign_where(Target const& target, M const& mask, V const& value) {
  check_writable(target.storage());
  auto const condition = as_node(mask);
  auto const wanted = converted_node<typename Target::value_type>(value);
  static_assert(decltype(wanted)::rank <= Target::rank,
                "the expression has more dimensions than what it is assigned to");
  auto const extents = condition.extents();
  if (!broadcasts_to(extents, target.extents()))
    throw ShapeError(text("a mask of shape ", Shape(extents.begin(), extents.end()),
                          " cannot select from an array of shape ", target.shape(),
                          "; extents must be equal or 1, from the last on"));
  check_fits(wanted.extents(), target.extents());
  using Node = WhereNode<node_of<M>, std::remove_cv_t<decltype(wanted)>, Target>;
  target = Node(condition, wanted, target);
}

}  // namespace detail

/// The cells of a view for which a mask is true; it can only be written.
///
/// u(mask) = value is u = where(mask, value, u) with the value converted to u's type: value has u's
/// shape or broadcasts to it, also where NumPy would want the selected cells alone. The cells for
/// which the mask is false keep their bits.
template <class V, class M>
class MaskedView {
 public:
  using value_type = typename V::value_type;
  static constexpr bool is_const = V::is_const;

  MaskedView(V view, M mask) : view_(std::move(view)), mask_(std::move(mask)) {}
  MaskedView(MaskedView const&) = default;
  MaskedView& operator=(MaskedView const&) = delete;

  /// Shapes: mask and value broadcast to the view. Throws: ShapeError, before anything is sent.
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, value_type>)&&!is_const) MaskedView const&
  operator=(E const& value) const {
    detail::assign_where(view_, mask_, value);
    return *this;
  }
  template <class E>
  requires(is_const) void operator=(E const&) const = delete;  // a const array is only read

  /// All cells, also those that the mask leaves out.
  [[nodiscard]] V const& view() const { return view_; }

 private:
  V view_;
  M mask_;
};

namespace detail {

/// A view keeps an array's cells alive without copying them; other expressions are kept as they
/// are.
template <class E>
[[nodiscard]] auto kept_operand(E const& expression) {
  if constexpr (requires { expression.view(SourceLocation{}); })
    return expression.view({});
  else
    return expression;
}

/// Selects from the dimensions of a view, from the first on.
template <class T, std::size_t N, std::size_t R, Selector... S>
[[nodiscard]] auto slice(View<T, N, R>&& view, S const&... selectors) {
  constexpr auto kept = kept_dimensions<S...>;
  auto axes = view.axes();
  std::array<std::int64_t, kept> extents{};
  std::size_t from = 0;
  std::size_t to = 0;
  auto const add = [&]<class A>(A const& selector) {
    if constexpr (std::same_as<A, NewAxis>) {
      extents[to++] = 1;
    } else {
      auto const selected = select(selector, view.extents()[from], from);
      auto const moved_by = selected.kept ? static_cast<int>(to) : ViewAxis::fixed;
      for (std::size_t r = 0; r < R; ++r)
        if (view.axes()[r].from == static_cast<int>(from))
          axes[r] = view.axes()[r].narrowed(selected.range, moved_by);
      if (selected.kept) extents[to++] = selected.range.count;
      ++from;
    }
  };
  (add(selectors), ...);
  auto const location = view.location();
  return View<T, kept, R>(std::move(view).storage(), axes, extents, location);
}

template <std::size_t N, class... S>
concept Selects =
    (Selector<S> && ...) && selected_dimensions<S...> == N&& kept_dimensions<S...> <= max_rank;

// u(...) of up to 8 selectors, for a const `Self` or another one.
#define TESSERA_SLICES(qualifier)                                                                \
  template <class A>                                                                             \
  requires(Selects<N, A>) [[nodiscard]] auto operator()(                                         \
      A a, std::source_location at = std::source_location::current()) qualifier {                \
    return slice(self().view(at), a);                                                            \
  }                                                                                              \
  template <class A, class B>                                                                    \
  requires(Selects<N, A, B>) [[nodiscard]] auto operator()(                                      \
      A a, B b, std::source_location at = std::source_location::current()) qualifier {           \
    return slice(self().view(at), a, b);                                                         \
  }                                                                                              \
  template <class A, class B, class C>                                                           \
  requires(Selects<N, A, B, C>) [[nodiscard]] auto operator()(                                   \
      A a, B b, C c, std::source_location at = std::source_location::current()) qualifier {      \
    return slice(self().view(at), a, b, c);                                                      \
  }                                                                                              \
  template <class A, class B, class C, class D>                                                  \
  requires(Selects<N, A, B, C, D>) [[nodiscard]] auto operator()(                                \
      A a, B b, C c, D d, std::source_location at = std::source_location::current()) qualifier { \
    return slice(self().view(at), a, b, c, d);                                                   \
  }                                                                                              \
  template <class A, class B, class C, class D, class E>                                         \
  requires(Selects<N, A, B, C, D, E>) [[nodiscard]] auto operator()(                             \
      A a, B b, C c, D d, E e, std::source_location at = std::source_location::current())        \
      qualifier {                                                                                \
    return slice(self().view(at), a, b, c, d, e);                                                \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F>                                \
  requires(Selects<N, A, B, C, D, E, F>) [[nodiscard]] auto operator()(                          \
      A a, B b, C c, D d, E e, F f, std::source_location at = std::source_location::current())   \
      qualifier {                                                                                \
    return slice(self().view(at), a, b, c, d, e, f);                                             \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F, class G>                       \
  requires(Selects<N, A, B, C, D, E, F, G>) [[nodiscard]] auto operator()(                       \
      A a, B b, C c, D d, E e, F f, G g,                                                         \
      std::source_location at = std::source_location::current()) qualifier {                     \
    return slice(self().view(at), a, b, c, d, e, f, g);                                          \
  }                                                                                              \
  template <class A, class B, class C, class D, class E, class F, class G, class H>              \
  requires(Selects<N, A, B, C, D, E, F, G, H>) [[nodiscard]] auto operator()(                    \
      A a, B b, C c, D d, E e, F f, G g, H h,                                                    \
      std::source_location at = std::source_location::current()) qualifier {                     \
    return slice(self().view(at), a, b, c, d, e, f, g, h);                                       \
  }                                                                                              \
  template <Mask M>                                                                              \
  [[nodiscard]] auto operator()(                                                                 \
      M const& mask, std::source_location at = std::source_location::current()) qualifier {      \
    static_assert(M::rank <= N, "a mask has no more dimensions than what it selects from");      \
    return MaskedView(self().view(at), kept_operand(mask));                                      \
  }

/// u(...) for everything of N dimensions whose cells can be selected from: what a const array shows
/// can only be read.
///
/// A slice by Python's rules: a Range or `all` per dimension, or an integer, which drops it;
/// `newaxis` adds one. Or the cells for which a mask is true, to be written: u(u < 0) = 0.
/// Shapes:  the mask broadcasts to u.
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

}  // namespace detail

/// N dimensions of an array of R. A view can be sliced again. That of a const array, View<T const,
/// N, R>, can only be read.
///
/// Assigning to a view writes the cells it shows, as if the right side were evaluated completely
/// before anything is written. Lifetime: copies of a view show the same cells. `DistArray w = view`
/// copies the cells.
template <class T, std::size_t N, std::size_t R>
class View : public detail::ArrayNode<std::remove_const_t<T>, N, R>,
             public detail::Sliceable<View<T, N, R>, N> {
 public:
  using value_type = std::remove_const_t<T>;
  using Node = detail::ArrayNode<value_type, N, R>;
  static constexpr std::size_t rank = N;
  static constexpr bool is_const = std::is_const_v<T>;

  using Node::Node;
  explicit View(Node node) : Node(std::move(node)) {}
  View(View const&) = default;
  View(View&&) noexcept = default;
  template <class S>
  requires(std::is_const_v<S> && !is_const) explicit View(View<S, N, R> const&) = delete;
  ~View() = default;

  /// The same cells, as seen from another place in the source.
  [[nodiscard]] View view(SourceLocation const& location) const {
    return {this->storage(), this->axes(), this->extents(), location};
  }

  /// Writes the cells shown. Shapes: the right side broadcasts to the view.
  /// Throws: ShapeError, before anything is sent.
  View const& operator=(View const& other) const requires(!is_const) {
    detail::assign_to_view(*this, other, this->location());
    return *this;
  }
  View& operator=(View const& other) requires(!is_const) {
    detail::assign_to_view(*this, other, this->location());
    return *this;
  }
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, T>)&&!is_const) View const& operator=(
      E const& value) const {
    detail::assign_to_view(*this, value, this->location());
    return *this;
  }
  template <class E>
  requires(is_const) void operator=(E const&) const = delete;  // a const array is only read

  /// The element itself.
  /// Ranks: collective: the value is the same on every process.
  operator value_type() const  // NOLINT: an element is its value
      requires(N == 0) {
    return detail::element_of(*this);
  }
  /// The cells shown, in row-major order, on every process. Ranks: collective.
  [[nodiscard]] std::vector<value_type> to_host() const requires(N > 0) {
    // A vector of bool is no memory of bools: it is read as bytes.
    using Cell = std::conditional_t<std::same_as<value_type, bool>, std::uint8_t, value_type>;
    std::vector<Cell> cells(static_cast<std::size_t>(cells_of(this->shape())));
    detail::read_to_host(this->readable(), this->map(N), whole(this->shape()),
                         reinterpret_cast<std::byte*>(cells.data()), this->location());
    if constexpr (std::same_as<value_type, bool>)
      return std::vector<value_type>(cells.begin(), cells.end());
    else
      return cells;
  }
};

namespace detail {

/// The view with only these positions of dimension `d`.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N, R> narrowed(View<T, N, R> const& view, std::size_t d,
                                     ResolvedRange const& range) {
  auto axes = view.axes();
  auto extents = view.extents();
  for (auto& axis : axes)
    if (axis.from == static_cast<int>(d)) axis = axis.narrowed(range, axis.from);
  extents[d] = range.count;
  return {view.storage(), axes, extents, view.location()};
}

/// The view without dimension `d`, at that position of it.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N - 1, R> layer(View<T, N, R> const& view, std::size_t d,
                                      std::int64_t position) {
  auto axes = view.axes();
  for (auto& axis : axes) {
    if (axis.from == static_cast<int>(d))
      axis = axis.narrowed({position, 1, 1}, ViewAxis::fixed);
    else if (axis.from > static_cast<int>(d))
      --axis.from;
  }
  std::array<std::int64_t, N - 1> extents;
  for (std::size_t k = 0; k + 1 < N; ++k) extents[k] = view.extents()[k < d ? k : k + 1];
  return {view.storage(), axes, extents, view.location()};
}

/// The view with its dimensions in another order: dimension k is the view's dimension order[k].
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N, R> reordered(View<T, N, R> const& view,
                                      std::array<std::size_t, N> const& order) {
  auto axes = view.axes();
  auto extents = view.extents();
  for (std::size_t k = 0; k < N; ++k) {
    extents[k] = view.extents()[order[k]];
    for (std::size_t r = 0; r < R; ++r)
      if (view.axes()[r].from == static_cast<int>(order[k])) axes[r].from = static_cast<int>(k);
  }
  return {view.storage(), axes, extents, view.location()};
}

}  // namespace detail
}  // namespace tessera
