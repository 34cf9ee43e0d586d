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
#include "tessera/detail/array/expr/moved.hpp"

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
    throw ShapeError(text("a mask of shape ", Shape(extents),
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

  /// Shapes: mask and value broadcast to the view. Throws: ShapeError, before anything is sent.
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, value_type>)&&!is_const) MaskedView const&
  operator=(E const& value) const {
    detail::assign_where(view_, mask_, value);
    return *this;
  }
  template <class E>
  requires(is_const) void operator=(E const&) const = delete;  // a const array is only read
  void operator=(MaskedView const& other) const { operator=<V, M>(other); }
  template <class W, class K>
  void operator=(MaskedView<W, K> const&) const {
    static_assert(!Expression<W>, "u(mask) can only be written: write u(mask) = v, not v(mask)");
  }

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

/// What a rearrangement shows of a view is a view.
template <std::size_t K, class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, K, R> rearranged(View<T, N, R> const& view, Rearrangement const& how) {
  return View<T, K, R>(Rearrange<K, true>{how}(view));
}
/// What selectors show of a view. As `rearranged` does, but in place and without a copy of the
/// view: a step of a short loop makes several slices.
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
          axes[r] = view.axes()[r].narrowed(selected.range, moved_by, selected.per_step);
      if (selected.kept) extents[to++] = selected.range.count;
      ++from;
    }
  };
  (add(selectors), ...);
  auto const location = view.location();
  return View<T, kept, R>(std::move(view).storage(), axes, extents, location);
}

/// u(...) also for a mask: the cells for which it is true, to be written, as in u(u < 0) = 0.
/// Shapes: the mask broadcasts to u.
template <class Self, std::size_t N>
class Maskable : public Sliceable<Self, N> {
 public:
  using Sliceable<Self, N>::operator();
  template <Selector... S>
  [[nodiscard]] auto sliced(SourceLocation const& at, S const&... selectors) {
    return slice(static_cast<Self&>(*this).view(at), selectors...);
  }
  template <Selector... S>
  [[nodiscard]] auto sliced(SourceLocation const& at, S const&... selectors) const {
    return slice(static_cast<Self const&>(*this).view(at), selectors...);
  }
  template <Mask M>
  [[nodiscard]] auto operator()(M const& mask,
                                std::source_location at = std::source_location::current()) {
    return masked(static_cast<Self&>(*this).view(at), mask);
  }
  template <Mask M>
  [[nodiscard]] auto operator()(M const& mask,
                                std::source_location at = std::source_location::current()) const {
    return masked(static_cast<Self const&>(*this).view(at), mask);
  }

 private:
  template <class V, class M>
  [[nodiscard]] static auto masked(V const& view, M const& mask) {
    static_assert(M::rank <= N, "a mask has no more dimensions than what it selects from");
    return MaskedView(view, kept_operand(mask));
  }
};

}  // namespace detail

/// N dimensions of an array of R. A view can be sliced again. That of a const array, View<T const,
/// N, R>, can only be read.
///
/// Assigning to a view writes the cells it shows, as if the right side were evaluated completely
/// before anything is written. Lifetime: copies of a view show the same cells. `DistArray w = view`
/// copies the cells.
template <class T, std::size_t N, std::size_t R>
class View : public detail::ArrayNode<std::remove_const_t<T>, N, R>,
             public detail::Maskable<View<T, N, R>, N> {
 public:
  using value_type = std::remove_const_t<T>;
  using Base = detail::ArrayNode<value_type, N, R>;
  static constexpr std::size_t rank = N;
  static constexpr bool is_const = std::is_const_v<T>;

  using Base::Base;
  explicit View(Base node) : Base(std::move(node)) {}
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
    auto const& state = this->readable();
    return detail::list_read<value_type>(
        [&](auto const& make) {
          detail::make_room_for_all(state, cells_of(this->shape()), this->location(), make);
        },
        [&](std::byte* to) {
          detail::read_to_host(state, this->map(N), whole(this->shape()), to, this->location());
        });
  }
};

namespace detail {

/// The view with only these positions of dimension `d`.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N, R> narrowed(View<T, N, R> const& view, std::size_t d,
                                     ResolvedRange const& range) {
  auto how = all_of(view.extents(), view.location());
  how.dimensions[d].range = range;
  return rearranged<N>(view, how);
}

/// The view without dimension `d`, at that position of it.
template <class T, std::size_t N, std::size_t R>
[[nodiscard]] View<T, N - 1, R> layer(View<T, N, R> const& view, std::size_t d,
                                      std::int64_t position) {
  auto how = all_of(view.extents(), view.location());
  how.dimensions[d].range = {position, 1, 1};
  how.dimensions[d].to = ViewAxis::fixed;
  for (auto k = d + 1; k < N; ++k) --how.dimensions[k].to;
  return rearranged<N - 1>(view, how);
}

}  // namespace detail
}  // namespace tessera
