#pragma once
/// @file
/// Values of each device: one array for each member of a group, for programs that think in local
/// values, as with MPI or NCCL. tessera/ops/member_collectives.hpp has what members exchange.
///
///     Group pair({3, 1});                        rank 0 is device 3, rank 1 is device 1
///     auto x = per_device<float>(pair, {2, 3}, [](Member m, auto i) { return … });
///     x.to_host(0)                               the six cells of rank 0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/array/creation.hpp"
#include "tessera/array/dist_array.hpp"
#include "tessera/array/shard_view.hpp"
#include "tessera/detail/ops/collectives/member_values.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/mesh/group.hpp"
#include "tessera/mesh/partition_spec.hpp"
#include "tessera/ops/partial.hpp"

namespace tessera {

/// One array of N dimensions for each member of each list of a group. Their extents may differ
/// along one dimension.
///
/// A value: a copy copies the cells, which all processes have to do; a move is free.
/// Ranks:   every call is collective over the job unless it says `local`; devices that are no
///          members hold nothing.
/// Threads: the thread that made the Runtime.
template <Element T, std::size_t N>
class PerDevice {
  static_assert(N >= 1 && N <= max_rank, "a value has 1 to 8 dimensions");

 public:
  using value_type = T;
  static constexpr std::size_t rank = N;

  explicit PerDevice(detail::MemberValues values) : values_(std::move(values)) {}
  PerDevice(PerDevice const& other) : values_(detail::copied(other.values())) {}
  PerDevice(PerDevice&& other) noexcept : values_(std::move(other.values_)) {
    detail::note_move(values_.cells);
  }
  PerDevice& operator=(PerDevice const& other) {
    if (this != &other) values_ = detail::copied(other.values());
    return *this;
  }
  PerDevice& operator=(PerDevice&& other) noexcept {
    values_ = std::move(other.values_);
    detail::note_move(values_.cells);
    return *this;
  }
  ~PerDevice() = default;

  [[nodiscard]] Group const& group() const { return values().shapes->group; }
  /// The extents of the value of a member, by its rank. Ranks: local.
  /// Throws: IndexError if there is no such rank or list; UsageError if the value does not exist,
  ///         because a collective gave it to another member alone.
  [[nodiscard]] std::array<std::int64_t, N> extents(std::int64_t member,
                                                    std::int64_t list = 0) const {
    auto const shape = values().shapes->shape_of(member, list);
    std::array<std::int64_t, N> result;
    for (std::size_t d = 0; d < N; ++d) result[d] = shape[d];
    return result;
  }
  /// The cells of a member's value in row-major order, on every process.
  /// Ranks: collective. Throws: as `extents`.
  [[nodiscard]] std::vector<T> to_host(
      std::int64_t member, std::int64_t list = 0,
      std::source_location at = std::source_location::current()) const {
    auto const count = cells_of(values().shapes->shape_of(member, list));
    return detail::list_read<T>(
        [&](auto const& make) { detail::make_room_for_all(values().cells, count, at, make); },
        [&](std::byte* into) { detail::read_member(values(), member, list, into, at); });
  }

  /// The values as collectives take them.
  /// Throws: UsageError if they were moved from, or belong to a Runtime that has ended.
  [[nodiscard]] detail::MemberValues const& values() const {
    if (values_.cells == nullptr)
      throw UsageError("these values were moved from; assign others before they are used");
    (void)detail::readable(values_.cells);
    return values_;
  }
  /// The same, to be taken over.
  [[nodiscard]] detail::MemberValues& values() {
    (void)std::as_const(*this).values();
    return values_;
  }

 private:
  detail::MemberValues values_;
};

namespace detail {

/// Sets each cell of values by f(member, index).
template <Element T, std::size_t N, class F>
[[nodiscard]] PerDevice<T, N> made_values(MemberShapesPtr shapes, F const& f) {
  auto const values = make_values(std::move(shapes), sizeof(T));
  write_shards(values.cells, [&](RawShard const& shard) {
    auto own = shard;
    auto const member = *member_of(*values.shapes, own);
    auto* const cells = reinterpret_cast<T*>(own.cells);
    visit_cells<N>(own, [&](std::array<std::int64_t, N> const& i, std::int64_t offset) {
      cells[offset] = static_cast<T>(f(member, i));
    });
  });
  return PerDevice<T, N>(values);
}

template <class F>
using ExtentsBy = std::remove_cvref_t<std::invoke_result_t<F const&, tessera::Member>>;

}  // namespace detail

/// Values with equal extents: cell i of a member's is f(member, i).
///
/// Ranks:   collective; nothing is sent. `f` runs on all devices' workers at the same time, each
///          for its own member.
/// Throws:  ShapeError for negative extents; ShardingError if the job lacks a device.
/// Example: per_device<float>(tp, {3, 4}, [](Member m, auto i) { return m.rank + 0.1F * i[0]; })
template <Element T, std::size_t N, class F>
requires(std::is_invocable_v<F const&, Member, std::array<std::int64_t, N>>)
    [[nodiscard]] PerDevice<T, N> per_device(Group const& group, std::int64_t const (&extents)[N],
                                             F const& f) {
  return detail::made_values<T, N>(detail::equal_shapes(group, Shape(extents, extents + N)), f);
}
/// The same, where extents(member) says the extents of a member's value, which may differ along one
/// dimension. Every process calls it for all members, so it must be the same everywhere.
///
/// Throws:  ShapeError also if two values differ along two dimensions.
/// Example: per_device<int>(g, [](Member m) { return std::array{m.rank + 1}; }, f)
template <Element T, class Extents, class F>
requires(std::is_invocable_v<Extents const&, Member>)
    [[nodiscard]] auto per_device(Group const& group, Extents const& extents, F const& f) {
  constexpr auto rank = std::tuple_size_v<detail::ExtentsBy<Extents>>;
  auto shapes = detail::shapes_by(group, rank, [&](Member const& member) {
    auto const asked = extents(member);
    return Shape(asked.begin(), asked.end());
  });
  return detail::made_values<T, rank>(std::move(shapes), f);
}

namespace detail {

template <class X>
struct MemberView;
template <Element T, std::size_t N>
struct MemberView<PerDevice<T, N>> {
  using type = ShardView<T, N>;
};
template <Element T, std::size_t N>
struct MemberView<PerDevice<T, N> const> {
  using type = ShardView<T const, N>;
};

}  // namespace detail

/// Calls f(member, views...) for each member of this process that has all values, with a ShardView
/// of its own value of each of `x`: to be read where `x` is const, else to be changed.
///
/// Cells of a GPU are copied to the host, and copied back if they may be changed. Waits for the
/// statements so far. `f` runs on all devices' workers at the same time, so it must be thread-safe;
/// it must not call Tessera.
/// Ranks:   collective if some value is not const.
/// Throws:  UsageError if the groups differ, or one `x` that may be changed is given twice; what
/// `f`
///          throws, after it has ended on the other devices.
/// Example: per_member([](Member, auto total, auto part) { total(0) += part(0); }, x,
///                     std::as_const(y))
template <class F, class... X>
requires(sizeof...(X) > 0) void per_member(F const& f, X&... x) {
  std::array const values{x.values()...};
  std::array const written{!std::is_const_v<X>...};
  detail::check_together(values, written);
  std::array<detail::StatePtr, sizeof...(X)> cells;
  for (std::size_t k = 0; k < cells.size(); ++k) cells[k] = values[k].cells;
  detail::visit_shards_together(cells, written, [&](std::span<detail::RawShard const> shards) {
    auto own = std::array<detail::RawShard, sizeof...(X)>{};
    std::copy(shards.begin(), shards.end(), own.begin());
    std::optional<tessera::Member> member;
    for (std::size_t k = 0; k < own.size(); ++k) {
      member = detail::member_of(*values[k].shapes, own[k]);
      if (!member) return;
    }
    [&]<std::size_t... k>(std::index_sequence<k...>) {
      f(*member, typename detail::MemberView<X>::type(own[k])...);
    }
    (std::index_sequence_for<X...>{});
  });
}

/// The values side by side along a dimension, as one array: list after list, member after member.
/// Those of values that are moved are taken over, not copied.
///
/// axis:    negative ones count from the end.
/// Ranks:   collective. No cells are sent. Waits for the statements so far if the values are moved
///          and lie along another dimension.
/// Throws:  ShapeError if the values differ along another dimension; UsageError if only one exists.
/// Example: as_array(std::move(x), 0)
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> as_array(PerDevice<T, N> const& x, std::int64_t axis,
                                       std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::copied_side_by_side(x.values(), axis, at));
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> as_array(PerDevice<T, N>&& x, std::int64_t axis) {
  return DistArray<T, N>(detail::taken_side_by_side(x.values(), axis));
}

/// The partial array whose partial results are the values: partial along the axes of the members.
/// Several lists lie side by side along dimension 0. Values that are moved are taken over.
///
/// Ranks:   collective. No cells are sent. Waits for the statements so far if the values are moved.
/// Throws:  ShapeError if the values have other extents; UsageError if only one exists.
/// Example: as_partial(std::move(x)), as_partial<ReduceOp::max>(x)
template <ReduceOp op = ReduceOp::sum, Element T, std::size_t N>
requires(N < max_rank) [[nodiscard]] DistArray<T, N> as_partial(
    PerDevice<T, N> const& x, std::source_location at = std::source_location::current()) {
  return from_partials<op>(DistArray<T, N + 1>(detail::copied_as_layers(x.values(), at)));
}
template <ReduceOp op = ReduceOp::sum, Element T, std::size_t N>
requires(N < max_rank) [[nodiscard]] DistArray<T, N> as_partial(PerDevice<T, N>&& x) {
  return from_partials<op>(DistArray<T, N + 1>(detail::taken_as_layers(x.values())));
}

/// What each device holds of an array, as values of the group along `axes` of its mesh: its piece,
/// or its copy. The cells of an array that is moved are taken over where it has no ghost cells.
///
/// Ranks:   collective. No cells are sent, unless a partial array is added up first. Waits for the
///          statements so far if the array is moved.
/// Throws:  ShapeError if the devices' pieces differ along two dimensions; ShardingError if a
///          device holds several boxes, or as Group.
/// Example: local(u, "model"), local(std::move(u), {"data", "model"})
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> local(DistArray<T, N> const& u, SpecEntry const& axes,
                                    std::source_location at = std::source_location::current()) {
  auto shapes = detail::local_shapes(*u.layout(), axes);
  return PerDevice<T, N>(detail::copied_values(std::move(shapes), u.readable(), at));
}
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> local(DistArray<T, N>&& u, SpecEntry const& axes) {
  auto shapes = detail::local_shapes(*u.layout(), axes);
  auto cells = u.readable();
  { auto const gone = std::move(u); }  // so that nobody else names the cells
  return PerDevice<T, N>(detail::taken_values(std::move(shapes), std::move(cells)));
}

}  // namespace tessera
