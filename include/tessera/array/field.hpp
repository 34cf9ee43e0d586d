#pragma once
/// @file
/// One member of an array of structs, to read and to write.

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tessera/array/view.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/detail/array/expr/operations.hpp"

namespace tessera {
namespace detail {

template <auto member, class S>
using member_type = std::remove_cvref_t<decltype(std::declval<S const&>().*member)>;

/// Structs with one member replaced.
template <auto member, class Structs, class Values>
struct WithMemberRow {
  Structs structs;
  Values values;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    auto result = structs(j);
    result.*member = convert<member_type<member, decltype(result)>>(values(j));
    return result;
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) {
    structs.move(d, n);
    values.move(d, n);
  }
};
template <auto member, class... Rows>
inline constexpr bool has_functions<WithMemberRow<member, Rows...>> = (has_functions<Rows> || ...);
template <auto member, class... Rows>
inline constexpr std::int64_t let_depth<WithMemberRow<member, Rows...>> =
    std::max({let_depth<Rows>...});
template <auto member, class S, class V>
requires(has_functions<WithMemberRow<member, S, V>>) struct Block<WithMemberRow<member, S, V>> {
  Block<S> structs;
  Block<V> values;
  [[nodiscard]] auto compute(WithMemberRow<member, S, V> const& row, std::int64_t first,
                             std::int64_t count) {
    return WithMemberRow<member, ComputedRow<S>, ComputedRow<V>>{
        structs.compute(row.structs, first, count), values.compute(row.values, first, count)};
  }
};
template <auto member, class Structs, class Values>
struct WithMemberKernel {
  static constexpr KernelEnds ends = Structs::ends + Values::ends;
  Structs structs;
  Values values;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    using RowS = decltype(structs.template row<unit>(call));
    using RowV = decltype(values.template row<unit>(call));
    return WithMemberRow<member, RowS, RowV>{structs.template row<unit>(call),
                                             values.template row<unit>(call)};
  }
};
template <auto member, class Structs, class Values, class Visit>
void visit_ends(WithMemberKernel<member, Structs, Values> const& kernel, Visit const& visit) {
  visit_ends(kernel.structs, visit);
  visit_ends(kernel.values, visit);
}

template <auto member, class Structs, class Values>
struct WithMemberNode : ExpressionBase {
  using value_type = typename Structs::value_type;
  static constexpr std::size_t rank = Structs::rank;
  Structs structs;
  Values values;
  WithMemberNode(Structs s, Values v) : structs(std::move(s)), values(std::move(v)) {}
  [[nodiscard]] auto extents() const { return structs.extents(); }
  [[nodiscard]] SourceLocation location() const {
    return first_known(structs.location(), values.location());
  }
};
template <auto member, class Structs, class Values>
[[nodiscard]] auto make_kernel(WithMemberNode<member, Structs, Values> const& node,
                               Builder& builder) {
  auto const structs = make_kernel(node.structs, builder);
  auto const values = make_kernel(node.values, builder);
  return WithMemberKernel<member, std::remove_cv_t<decltype(structs)>,
                          std::remove_cv_t<decltype(values)>>{structs, values};
}

template <auto member, class E>
concept HasMember = Expression<E> && std::is_member_object_pointer_v<decltype(member)> &&
    requires(typename E::value_type const& element) {
  element.*member;
};

}  // namespace detail

/// One member of the structs that a view shows, or of structs nested in one of their members: an
/// expression that can also be written. The other members keep their bits.
///
/// It can be sliced like a view, and written through a mask: the slice selects structs, and the
/// result shows their member.
template <auto member, class V>
class Field : public detail::UnaryNode<detail::Member<member>, typename V::value_type, V>,
              public detail::Maskable<Field<member, V>, V::rank> {
 public:
  using Base = detail::UnaryNode<detail::Member<member>, typename V::value_type, V>;
  using value_type = typename Base::value_type;
  static constexpr bool is_const = V::is_const;
  using detail::Maskable<Field<member, V>, V::rank>::operator();
  using detail::Maskable<Field<member, V>, V::rank>::sliced;

  explicit Field(V const& structs) : Base(structs) {}
  Field(Field const&) = default;

  /// The same cells, as seen from another place in the source.
  [[nodiscard]] Field view(SourceLocation const& location) const {
    return Field(this->a.view(location));
  }
  /// The array of the structs. See View.
  [[nodiscard]] detail::StatePtr const& storage() const { return this->a.storage(); }

  /// Writes the member. Shapes: the right side broadcasts to the view.
  /// Throws: ShapeError, before anything is sent.
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, value_type>)&&!is_const) Field const& operator=(
      E const& value) const {
    write(value);
    return *this;
  }
  Field const& operator=(Field const& other) const requires(!is_const) {
    write(other);
    return *this;
  }
  Field& operator=(Field const& other) requires(!is_const) {
    write(other);
    return *this;
  }
  template <class E>
  requires(is_const) void operator=(E const&) const = delete;  // a const array is only read

 private:
  template <class E>
  void write(E const& value) const {
    detail::check_writable(storage());
    auto const node = detail::value_node<value_type>(value);
    using Node = std::remove_cv_t<decltype(node)>;
    static_assert(Node::rank <= V::rank,
                  "the expression has more dimensions than what it is assigned to");
    detail::check_fits(node.extents(), this->a.extents());
    this->a = detail::WithMemberNode<member, V, Node>(this->a, node);
  }
};

namespace detail {
/// Selects from the dimensions of the structs.
template <auto member, class V, Selector... S>
[[nodiscard]] auto slice(Field<member, V> const& whole, S const&... selectors) {
  auto const structs = slice(V(whole.a), selectors...);
  return Field<member, std::remove_cv_t<decltype(structs)>>(structs);
}
}  // namespace detail

/// One member of an array of structs: field<&S::x>(u) is an expression of the member's type, which
/// can be reduced and be an operand like any other. For an array, a view or a member of one it can
/// also be sliced and assigned to; shifts apply to the structs.
///
/// Cost:    where neighbours are read, whole structs travel.
/// Example: field<&Particle::mass>(u(range(1, 3))) *= 2.0; sum(field<&Particle::mass>(u)(from(1)));
template <auto member, class E>
requires(detail::HasMember<member, std::remove_cvref_t<E>>)
    [[nodiscard]] auto field(E&& e, std::source_location at = std::source_location::current()) {
  if constexpr (requires { e.view(SourceLocation(at)); }) {
    auto const view = e.view(at);
    return Field<member, std::remove_cv_t<decltype(view)>>(view);
  } else {
    using Node = detail::node_of<E>;
    return detail::UnaryNode<detail::Member<member>, typename Node::value_type, Node>(
        detail::as_node(e));
  }
}

}  // namespace tessera
