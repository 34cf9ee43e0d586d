#pragma once
/// @file
/// One array whose cells lie in pieces on the devices of a mesh.

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <utility>
#include <vector>

#include "tessera/array/element.hpp"
#include "tessera/array/one_sided.hpp"
#include "tessera/array/shard_view.hpp"
#include "tessera/array/view.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/index/shape.hpp"

namespace tessera {

/// A global view of an array of N dimensions, cut over a mesh by a sharding.
///
/// A value: a copy copies the cells, a move is free. Views and expressions made of it keep its
/// cells alive and read them when they are assigned. u(...) is a slice, u(mask) the cells to write;
/// between two fences, u.read(index) and u.write(index, value) are for one process alone.
/// Ranks:   every call is collective over the job unless it says `local`.
/// Threads: the thread that made the Runtime.
template <Element T, std::size_t N>
class DistArray : public ExpressionBase,
                  public detail::Maskable<DistArray<T, N>, N>,
                  public detail::OneSidedCells<DistArray<T, N>, T, N> {
  static_assert(N >= 1 && N <= max_rank, "an array has 0 to 8 dimensions");

 public:
  using value_type = T;
  static constexpr std::size_t rank = N;

  /// An array whose cells are not set.
  /// Throws: ShapeError if `shape` has not N extents or one is negative; ShardingError if it cannot
  ///         lie so; DeviceError if the memory cannot be had.
  DistArray(Shape const& shape, NamedSharding const& sharding)
      : state_(detail::make_state(sharding, checked(shape), sizeof(T))) {}

  /// Takes the cells of an expression and places them where most of its operands lie.
  /// Shapes: the expression's.
  template <Expression E>
  requires(E::rank == N && !std::derived_from<E, DistArray>)
      DistArray(E const& expression)  // NOLINT: a copy of a view is an array
      : state_(detail::state_for_result(expression, sizeof(T))) {
    detail::assign_to_view(view(expression.location()), expression, expression.location());
  }
  template <Expression E>
  DistArray(E const& expression, NamedSharding const& sharding)
      : DistArray(expression.shape(), sharding) {
    detail::assign_to_view(view(expression.location()), expression, expression.location());
  }

  template <class V, class M>
  DistArray(MaskedView<V, M> const&) {  // NOLINT: it says what to write instead
    static_assert(!Expression<V>,
                  "u(mask) can only be written: write where(mask, u, other) for an array");
  }

  /// An array of existing cells. Their rank must be N and their element size that of T.
  explicit DistArray(detail::StatePtr state) : state_(std::move(state)) {}
  DistArray(DistArray const& other) : state_(detail::copied(other.storage())) {}
  DistArray(DistArray&& other) noexcept : state_(std::move(other.state_)) {
    detail::note_move(state_);
  }

  /// Writes the other's cells into this array, which keeps its sharding; one that was moved from
  /// becomes a copy. Throws: ShapeError for another shape; UsageError if this array is partial.
  DistArray& operator=(DistArray const& other) {
    detail::assign_array(state_, other.storage());
    return *this;
  }
  /// A ResultArray is written in the same way.
  template <std::derived_from<DistArray> Made>
  requires(!std::same_as<Made, DistArray>) DistArray& operator=(Made&& made) {
    DistArray& array = made;
    return state_ == nullptr ? *this = std::move(array) : *this = std::as_const(array);
  }
  /// Takes over the other's cells and sharding. Views of this array keep its old cells.
  DistArray& operator=(DistArray&& other) noexcept {
    state_ = std::move(other.state_);
    detail::note_move(state_);
    return *this;
  }

  /// Writes all cells; shape and sharding stay. Behaves as if the right side were evaluated
  /// completely before anything is written.
  /// Shapes: the right side broadcasts to this array.
  /// Throws: ShapeError, before anything is sent.
  template <class E>
  requires((Expression<E> || detail::ValueFor<E, T>)&&!std::derived_from<E, DistArray>) DistArray&
  operator=(E const& value) {
    detail::check_writable(storage());
    detail::assign_to_view(view({}), value, {});
    return *this;
  }

  [[nodiscard]] Shape const& shape() const { return layout()->shape(); }
  [[nodiscard]] std::array<std::int64_t, N> extents() const {
    std::array<std::int64_t, N> result;
    for (std::size_t d = 0; d < N; ++d) result[d] = shape()[d];
    return result;
  }
  /// The cells along dimension d. Throws: ShapeError if there is no such dimension.
  [[nodiscard]] std::int64_t extent(std::size_t d) const { return detail::extent_of(shape(), d); }
  [[nodiscard]] std::int64_t size() const { return layout()->cells(); }
  [[nodiscard]] NamedSharding const& sharding() const { return layout()->sharding(); }
  [[nodiscard]] std::shared_ptr<Layout const> const& layout() const {
    return detail::layout_of(storage());
  }
  /// The cells; for a partial array, their sum.
  /// Ranks: local; collective for a partial array.
  /// Throws: UsageError if the array was moved from.
  [[nodiscard]] detail::StatePtr const& readable() const { return detail::readable(storage()); }
  /// What the array holds: its cells, or its partials. Throws: UsageError if it was moved from.
  [[nodiscard]] detail::StatePtr const& storage() const {
    if (state_ == nullptr)
      throw UsageError("this array was moved from; assign another array to it before it is used");
    return state_;
  }
  [[nodiscard]] SourceLocation location() const { return {}; }

  /// What an expression keeps of the array.
  [[nodiscard]] detail::ArrayNode<T, N, N> node() const {
    return all_cells<detail::ArrayNode<T, N, N>>({});
  }
  /// All cells as a view, which can be written if the array is not const. Ranks: local.
  [[nodiscard]] View<T, N, N> view(SourceLocation const& location) {
    return all_cells<View<T, N, N>>(location);
  }
  [[nodiscard]] View<T const, N, N> view(SourceLocation const& location) const {
    return all_cells<View<T const, N, N>>(location);
  }

  /// All cells in row-major order, on every process.
  /// Cost: the whole array on every process.
  [[nodiscard]] std::vector<T> to_host(
      std::source_location at = std::source_location::current()) const {
    return view(at).to_host();
  }

  /// The cells that each device of this process holds, in the order of the devices, box by box. A
  /// device of the mesh that holds no cells contributes an empty shard.
  /// Ranks:    local; collective for a partial array whose value has not been read yet. Waits until
  ///           this process's devices have executed the statements so far. On GPUs the addresses
  ///           are those of GPU memory, for kernels of your own; for_each_shard shows the cells on
  ///           the host.
  /// Lifetime: of the views: until the next statement that names this array.
  [[nodiscard]] std::vector<ShardView<T const, N>> addressable_shards() const {
    std::vector<ShardView<T const, N>> views;
    for (auto const& raw : detail::shards_to_read(readable())) views.emplace_back(raw);
    return views;
  }
  /// The same cells, to be written until the next statement that names this array. Where devices
  /// hold copies, write the same values into each copy. Counts as a write of all cells.
  /// Ranks: collective, also where a process holds nothing of the array.
  [[nodiscard]] std::vector<ShardView<T, N>> mutable_shards() {
    std::vector<ShardView<T, N>> views;
    detail::check_writable(storage());
    for (auto const& raw : detail::shards_to_write(readable())) views.emplace_back(raw);
    return views;
  }

 private:
  static Shape const& checked(Shape const& shape) {
    detail::check_shape(shape, N);
    return shape;
  }
  template <class Node>
  [[nodiscard]] Node all_cells(SourceLocation const& location) const {
    typename Node::Axes axes;
    for (std::size_t d = 0; d < N; ++d) axes[d] = {static_cast<int>(d), 0, 1};
    return {storage(), axes, extents(), location};
  }

  detail::StatePtr state_;
};

/// The array that an operation has made: one like any other, except that assigning it to an array
/// writes its cells there. r = sum(u, axis(0)) leaves r where it lies.
template <Element T, std::size_t N>
class ResultArray : public DistArray<T, N> {
 public:
  using DistArray<T, N>::DistArray;
  using DistArray<T, N>::operator=;
  ResultArray(ResultArray const&) = default;
  ResultArray(ResultArray&&) noexcept = default;
  ResultArray& operator=(ResultArray const&) = default;
  ResultArray& operator=(ResultArray&& other) {  // NOLINT: it may throw
    DistArray<T, N>::operator=(std::move(other));
    return *this;
  }
};

/// The array of an expression has its type and rank.
template <Expression E>
DistArray(E const&) -> DistArray<typename E::value_type, E::rank>;
template <Expression E>
DistArray(E const&, NamedSharding const&) -> DistArray<typename E::value_type, E::rank>;

template <class V, class M>
DistArray(MaskedView<V, M> const&) -> DistArray<typename V::value_type, V::rank>;

}  // namespace tessera

#include "tessera/array/rank_zero.hpp"
