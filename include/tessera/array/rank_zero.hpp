#pragma once
/// @file
/// Arrays without dimensions: one cell, which broadcasts against everything.

#include <array>
#include <concepts>
#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

#include "tessera/array/dist_array.hpp"

namespace tessera {
namespace detail {

/// How the cell lies: as the one cell of a dimension that is not cut.
/// Throws: ShardingError if the spec has entries: there is nothing to cut.
[[nodiscard]] NamedSharding sharding_of_cell(NamedSharding const& sharding);

}  // namespace detail

/// An array of rank 0: one cell, with a copy on each device of the mesh, where it lies by P().
///
/// A value, an operand and a target like any other array. A Scalar differs in that it is on every
/// process, and cannot be written.
/// Ranks:   every call is collective over the job unless it says `local`.
/// Example: DistArray<double, 0> rate({}, {mesh, P()}); rate = 0.1; u -= rate * g; rate *= 0.5;
template <Element T>
class DistArray<T, 0> : public ExpressionBase {
 public:
  using value_type = T;
  static constexpr std::size_t rank = 0;

  /// An array whose cell is not set.
  /// Throws: ShapeError if `shape` has dimensions; ShardingError if the spec is not P().
  DistArray(Shape const& shape, NamedSharding const& sharding)
      : state_(detail::make_state(detail::sharding_of_cell(sharding), checked(shape), sizeof(T))) {}
  /// The cell is the expression's value, on the devices of the mesh that it is made of.
  /// Throws: UsageError if it reads no array, and so has no mesh.
  template <Expression E>
  requires(E::rank == 0 && !std::derived_from<E, DistArray>)
      DistArray(E const& expression)  // NOLINT: a copy of a view is an array
      : state_(detail::state_for_result(expression, sizeof(T))) {
    detail::assign_to_view(view(expression.location()), expression, expression.location());
  }
  template <Expression E>
  requires(E::rank == 0) DistArray(E const& expression, NamedSharding const& sharding)
      : DistArray(Shape{}, sharding) {
    detail::assign_to_view(view(expression.location()), expression, expression.location());
  }
  /// An existing cell, as an array of one dimension and one cell.
  explicit DistArray(detail::StatePtr state) : state_(std::move(state)) {}

  DistArray(DistArray const& other) : state_(detail::copied(other.storage())) {}
  DistArray(DistArray&& other) noexcept : state_(std::move(other.state_)) {
    detail::note_move(state_);
  }
  /// Writes the cell. An array that was moved from becomes a copy.
  DistArray& operator=(DistArray const& other) {
    detail::assign_array(state_, other.storage());
    return *this;
  }
  DistArray& operator=(DistArray&& other) noexcept {
    state_ = std::move(other.state_);
    detail::note_move(state_);
    return *this;
  }

  /// Writes the cell.
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, T>)&&!std::derived_from<E, DistArray>) DistArray&
  operator=(E const& value) {
    detail::assign_to_view(view({}), value, {});
    return *this;
  }

  /// The value, on every process. Ranks: collective.
  operator T() const { return view({}); }  // NOLINT: the cell is its value

  [[nodiscard]] Shape shape() const { return {}; }
  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] std::int64_t size() const { return 1; }
  /// P(none) in place of P(): how the cell lies as that of one dimension.
  [[nodiscard]] NamedSharding const& sharding() const { return layout()->sharding(); }
  [[nodiscard]] std::shared_ptr<Layout const> const& layout() const {
    return detail::layout_of(storage());
  }
  /// The cell. Throws: UsageError if the array was moved from.
  [[nodiscard]] detail::StatePtr const& storage() const {
    if (state_ == nullptr)
      throw UsageError("this array was moved from; assign another array to it before it is used");
    return state_;
  }
  /// The same: an array without dimensions is never partial.
  [[nodiscard]] detail::StatePtr const& readable() const { return storage(); }
  [[nodiscard]] SourceLocation location() const { return {}; }

  /// What an expression keeps of the array.
  [[nodiscard]] detail::ArrayNode<T, 0, 1> node() const { return view({}); }
  /// The cell as a view.
  [[nodiscard]] View<T, 0, 1> view(SourceLocation const& location) {
    return {storage(), {detail::ViewAxis{}}, {}, location};
  }
  [[nodiscard]] View<T const, 0, 1> view(SourceLocation const& location) const {
    return {storage(), {detail::ViewAxis{}}, {}, location};
  }
  /// The cell, on every process.
  [[nodiscard]] std::vector<T> to_host(
      std::source_location at = std::source_location::current()) const {
    return {static_cast<T>(view(at))};
  }

 private:
  static Shape checked(Shape const& shape) {
    detail::check_shape(shape, 0);
    return {1};
  }

  detail::StatePtr state_;
};

}  // namespace tessera
