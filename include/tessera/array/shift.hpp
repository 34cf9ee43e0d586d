#pragma once
/// @file
/// Neighbours: shift and roll, and the boundaries past the edges.

#include <array>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

#include "tessera/detail/array/expr/arguments.hpp"
#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/moved.hpp"
#include "tessera/detail/array/expr/nodes.hpp"
#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/base/hash.hpp"

namespace tessera {

/// The values that are read past one edge.
class Boundary {
 public:
  /// The largest struct that can be a constant.
  static constexpr std::size_t most_bytes = 32;

  constexpr explicit Boundary(detail::BoundaryKind kind) : kind_(kind) {}
  /// The same value past the edge everywhere.
  template <Element S>
  requires(detail::Number<S> || sizeof(S) <= most_bytes) [[nodiscard]] static constexpr Boundary
      of_constant(S const& value) {
    Boundary result(detail::BoundaryKind::constant);
    if constexpr (std::is_integral_v<S>) {
      result.integer_ = static_cast<std::int64_t>(value);
    } else if constexpr (detail::Number<S>) {
      result.holds_ = detail::is_complex<S> ? Holds::complex : Holds::real;
      result.real_ = static_cast<double>(detail::RealPart::apply(value));
      result.imaginary_ = static_cast<double>(detail::ImaginaryPart::apply(value));
    } else {
      result.holds_ = Holds::bytes;
      result.type_ = type_of<S>();
      std::memcpy(result.bytes_, &value, sizeof value);
    }
    return result;
  }

  [[nodiscard]] constexpr detail::BoundaryKind kind() const { return kind_; }
  /// The constant as an element.
  /// Throws: UsageError for an integer that an integer T cannot hold, a complex number where T is
  ///         real, and a struct of another type than T.
  template <class T>
  [[nodiscard]] constexpr T constant() const {
    if (kind_ != detail::BoundaryKind::constant) return T{};
    check_type<T>();
    if constexpr (!detail::Number<T>) {
      T result{};
      std::memcpy(&result, bytes_, sizeof result);
      return result;
    } else {
      // An integer of 8 bytes is kept by its bits.
      if constexpr (sizeof(T) < sizeof(integer_))
        if (holds_ == Holds::integer) detail::check_literal<T>(integer_);
      if (holds_ == Holds::integer) return detail::convert<T>(integer_);
      if constexpr (detail::is_complex<T>)
        return detail::convert<T>(std::complex<double>(real_, imaginary_));
      else
        return detail::convert<T>(real_);
    }
  }

 private:
  enum class Holds { integer, real, complex, bytes };

  template <class T>
  static constexpr std::uint64_t type_of() {
    return detail::hash_text(__PRETTY_FUNCTION__);
  }
  template <class T>
  constexpr void check_type() const {
    bool const fits = detail::Number<T> ? holds_ != Holds::bytes &&
                                              (detail::is_complex<T> || holds_ != Holds::complex)
                                        : holds_ == Holds::bytes && type_ == type_of<T>();
    if (!fits)
      throw UsageError(detail::text("constant(...) past the edge is not an element of an array of ",
                                    dtype_name<T>(), "; pass a value of the array's type"));
  }

  detail::BoundaryKind kind_;
  Holds holds_ = Holds::integer;
  double real_ = 0;
  double imaginary_ = 0;
  std::int64_t integer_ = 0;
  std::uint64_t type_ = 0;            ///< of bytes
  std::byte bytes_[most_bytes] = {};  ///< of a struct
};

/// The other end: cell -1 is the last one.
inline constexpr Boundary periodic{detail::BoundaryKind::periodic};
/// The last cell before the edge, repeated.
inline constexpr Boundary edge{detail::BoundaryKind::edge};
/// The cells before the edge backwards, without the last one: NumPy's "reflect". A single cell is
/// repeated.
inline constexpr Boundary reflect{detail::BoundaryKind::reflect};
/// The cells before the edge backwards, the last one first: NumPy's "symmetric".
inline constexpr Boundary symmetric{detail::BoundaryKind::symmetric};
namespace detail {
/// A boundary whose type says that it is constant.
class ConstantBoundary : public Boundary {
 public:
  constexpr explicit ConstantBoundary(Boundary const& boundary) : Boundary(boundary) {}
};
}  // namespace detail
/// Always the same value.
template <Element S>
[[nodiscard]] constexpr detail::ConstantBoundary constant(S const& value) {
  return detail::ConstantBoundary(Boundary::of_constant(value));
}

/// The boundaries past the two ends of one dimension; a single boundary applies to both.
struct Boundaries {
  Boundary below;
  Boundary above;
  constexpr Boundaries(Boundary both) : below(both), above(both) {}  // NOLINT: by design
  constexpr Boundaries(Boundary lo, Boundary hi) : below(lo), above(hi) {}
};

namespace detail {

/// The arguments of a shift or pad, which are the same for every kind of expression.
struct ShiftArguments {
  std::span<std::int64_t const> offsets;
  std::span<Boundaries const> boundaries;
  std::span<std::int64_t const> extents;  ///< of the expression
  std::span<std::int64_t const> shown;    ///< of the result
  SourceLocation at;

  [[nodiscard]] Boundaries const& boundary(std::size_t d) const {
    return boundaries[boundaries.size() == 1 ? 0 : d];
  }
};

/// The expression, or constants where index d lies past edges of dimension d: the last dimension
/// decides.
template <std::size_t d, class Node>
[[nodiscard]] auto with_constants(Node const& node, Shift const& shift,
                                  ShiftArguments const& arguments) {
  using T = typename Node::value_type;
  if constexpr (d == Node::rank) {
    return node;
  } else {
    auto const [first, last] = inside_of(shift.dimensions[d]);
    IndexNode const index(d, Node::rank);
    auto const past = [&]<class Op>(Op, std::int64_t edge, Boundary const& boundary,
                                    auto const& rest) {
      using Condition = decltype(computed<Op>(index, whole_number(edge)));
      return WhereNode<Condition, LiteralNode<T>, std::remove_cvref_t<decltype(rest)>>(
          computed<Op>(index, whole_number(edge)), LiteralNode<T>(boundary.constant<T>()), rest);
    };
    auto const& [below, above] = arguments.boundary(d);
    return with_constants<d + 1>(past(Less{}, first, below, past(Greater{}, last, above, node)),
                                 shift, arguments);
  }
}

/// `B` is the type of the boundary as the program gives it.
template <class B, class E>
[[nodiscard]] auto make_shift(E const& e, ShiftArguments const& arguments) {
  static_assert(E::rank >= 1, "one element has no neighbours");
  auto const shift = shift_of(arguments);
  auto node = moved(as_node(e), shift);
  if constexpr (IsArrayNode<node_of<E>>) {
    using T = typename E::value_type;
    for (std::size_t d = 0; d < E::rank; ++d) {
      auto const& boundary = arguments.boundary(d);
      node.shown[d] = arguments.shown[d];
      node.reach[d] = shift.dimensions[d].reach;
      node.constants[2 * d] = boundary.below.template constant<T>();
      node.constants[2 * d + 1] = boundary.above.template constant<T>();
    }
    return node;
  } else if constexpr (std::same_as<B, Boundary>) {
    check_no_constant(shift);
    return node;
  } else {
    return with_constants<0>(node, shift, arguments);
  }
}

/// The shape stays.
template <class B, class E>
[[nodiscard]] auto shift_by(E const& e, std::span<std::int64_t const> offsets,
                            std::span<Boundaries const> boundaries, SourceLocation const& at) {
  auto const extents = e.extents();
  return make_shift<B>(e, {offsets, boundaries, extents, extents, at});
}

template <class B>
concept AnyBoundary = std::convertible_to<B, Boundaries>;

}  // namespace detail

/// The neighbour's value: shift(u, k)(i) = u(i + k). The shape stays.
///
/// A shift of an expression shifts the arrays that it reads, without a temporary. Past a constant
/// edge it is a selection cell by cell, as by where(): so it is for constant(v), and for boundaries
/// in braces of any kind.
/// Shapes:  one offset per dimension; one boundary for all dimensions, or a list of one per
///          dimension, where Boundaries{below, above} tells the two ends apart.
/// Throws:  ShapeError where the numbers do not fit; UsageError if only one end is periodic, or if
///          an expression is shifted whose arrays are shifted already, other than periodically.
/// Example: shift(u, {0, 1}, periodic) is u's right neighbour in each row.
template <Expression E, detail::AnyBoundary B = Boundaries>
[[nodiscard]] auto shift(E const& u, std::initializer_list<std::int64_t> offsets, B const& boundary,
                         std::source_location at = std::source_location::current()) {
  Boundaries const both(boundary);
  return detail::shift_by<B>(u, {offsets.begin(), offsets.size()}, {&both, 1}, at);
}
template <Expression E>
[[nodiscard]] auto shift(E const& u, std::initializer_list<std::int64_t> offsets,
                         std::initializer_list<Boundaries> boundaries,
                         std::source_location at = std::source_location::current()) {
  return detail::shift_by<Boundaries>(u, {offsets.begin(), offsets.size()},
                                      {boundaries.begin(), boundaries.size()}, at);
}
template <Expression E, detail::AnyBoundary B = Boundaries>
requires(E::rank == 1)
    [[nodiscard]] auto shift(E const& u, std::int64_t offset, B const& boundary,
                             std::source_location at = std::source_location::current()) {
  Boundaries const both(boundary);
  return detail::shift_by<B>(u, {&offset, 1}, {&both, 1}, at);
}

/// NumPy's roll along one axis: roll(u, k)(i) = u(i - k), around the ends: the opposite sign of
/// shift. Throws: ShapeError if there is no such axis; -1 is the last.
template <Expression E>
[[nodiscard]] auto roll(E const& u, std::int64_t k, std::int64_t axis = 0,
                        std::source_location at = std::source_location::current()) {
  std::array<std::int64_t, E::rank> offsets{};
  auto const d = detail::resolve_axis(axis, E::rank);
  detail::check_offset(k, d);
  offsets[d] = -k;
  constexpr Boundaries around(periodic);
  return detail::shift_by<Boundary>(u, offsets, {&around, 1}, at);
}

}  // namespace tessera
