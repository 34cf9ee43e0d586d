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
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
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

template <class T>
inline constexpr bool is_per_device = false;
template <Element T, std::size_t N>
inline constexpr bool is_per_device<PerDevice<T, N>> = true;

/// True if a value that is passed as X&& may be changed.
template <class X>
inline constexpr bool is_changed =
    std::is_lvalue_reference_v<X> && !std::is_const_v<std::remove_reference_t<X>>;
/// How a function sees a member's own value of what is passed as X&&.
template <class X, class Value = std::remove_cvref_t<X>>
using MemberView = ShardView<
    std::conditional_t<is_changed<X>, typename Value::value_type, typename Value::value_type const>,
    Value::rank>;

/// f(member, views...), or f(views...) if it takes no member.
template <class F, class... Views>
decltype(auto) call_for(F const& f, tessera::Member const& member, Views const&... views) {
  if constexpr (std::is_invocable_v<F const&, tessera::Member const&, Views const&...>)
    return f(member, views...);
  else
    return f(views...);
}
template <class F, class... X>
using MemberResult = std::decay_t<decltype(call_for(
    std::declval<F const&>(), std::declval<tessera::Member>(), std::declval<MemberView<X>>()...))>;

/// The cells of what a member's function returns: an element, a std::array or a std::vector.
template <class R>
struct ResultCells;
template <Element T>
requires(!std::is_pointer_v<T> && !requires(T const& t) { t.data(); }) struct ResultCells<T> {
  using type = T;
  static constexpr std::int64_t count = 1;
};
template <Element T, std::size_t K>
struct ResultCells<std::array<T, K>> {
  using type = T;
  static constexpr std::int64_t count = K;
};
template <Element T>
struct ResultCells<std::vector<T>> {
  using type = T;
};

/// What members' functions returned, by device, as values.
template <class R>
[[nodiscard]] auto values_of(std::span<MemberValues const> operands,
                             std::map<DeviceId, R> const& results) {
  using T = typename ResultCells<R>::type;
  MemberShapesPtr shapes;
  if constexpr (requires { ResultCells<R>::count; }) {
    shapes = shapes_of_results(operands, ResultCells<R>::count);
  } else {
    shapes = shapes_of_results(operands, [&](DeviceId device) {
      auto const found = results.find(device);
      return found == results.end() ? 0 : std::ssize(found->second);
    });
  }
  auto const values = make_values(std::move(shapes), sizeof(T));
  write_shards(values.cells, [&](RawShard const& shard) {
    auto const found = results.find(shard.device);
    auto* const cells = reinterpret_cast<T*>(shard.cells);
    if (found == results.end()) return;
    if constexpr (std::same_as<R, T>)
      *cells = found->second;
    else
      std::copy(found->second.begin(), found->second.end(), cells);
  });
  return PerDevice<T, 1>(values);
}

}  // namespace detail

/// Calls f(member, views...) or f(views...) for each member of this process that has all values,
/// with a ShardView of its own value of each of `x`; a function that could take either gets the
/// member. A named value that is not const may be changed; others are read.
///
/// What f returns are values of one dimension: an element is one cell, a std::array has its size on
/// all members, and a std::vector may have another size on each.
///
/// Cells of a GPU are copied to the host, and copied back if they may be changed. Waits for the
/// statements so far. `f` runs on all devices' workers at the same time, so it must be thread-safe;
/// it must not call Tessera.
/// Ranks:   collective if some value may be changed or f returns one. The sizes of vectors are sent
///          to all processes.
/// Throws:  UsageError if the groups differ, one `x` that may be changed is given twice, or f
///          returns something and no member has all values; what `f` throws, after it has ended on
///          the other devices.
/// Example: per_member([](Member, auto total, auto part) { total(0) += part(0); }, x,
///                     std::as_const(y));
///          auto largest = per_member([](auto own) { return own(0); }, std::as_const(x))
template <class F, class... X>
requires(sizeof...(X) > 0 && (detail::is_per_device<std::remove_cvref_t<X>> &&
                              ...)) auto per_member(F const& f, X&&... x) {
  using Result = detail::MemberResult<F, X...>;
  std::array const values{std::as_const(x).values()...};
  std::array const written{detail::is_changed<X>...};
  if constexpr (!std::is_void_v<Result>) detail::check_results(values);
  auto const visit = [&](auto const& take) {
    detail::visit_members(values, written, [&](Member const& member, auto const& own) {
      [&]<std::size_t... k>(std::index_sequence<k...>) {
        take(member, detail::MemberView<X>(own[k])...);
      }
      (std::index_sequence_for<X...>{});
    });
  };
  if constexpr (std::is_void_v<Result>) {
    visit(
        [&](Member const& member, auto const&... views) { detail::call_for(f, member, views...); });
  } else {
    static_assert(
        requires { typename detail::ResultCells<Result>::type; },
        "per_member: the function returns nothing, an element, or a std::array or std::vector of "
        "elements; for more dimensions, change a value that you pass");
    std::map<DeviceId, Result> results;
    std::mutex mutex;
    visit([&](Member const& member, auto const&... views) {
      auto result = detail::call_for(f, member, views...);
      std::lock_guard const guard(mutex);
      results.insert_or_assign(member.device, std::move(result));
    });
    return detail::values_of(values, results);
  }
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

/// The array of which each member of a list has a copy; their values must have the same bits.
/// Values that are moved are taken over, not copied.
///
/// axis:    the lists' values lie side by side along it; negative ones count from the end.
/// Ranks:   collective. No cells are sent. Waits for the statements so far if the values are moved.
///          With TESSERA_CHECK=communication, values are sent to be compared.
/// Throws:  ShapeError if values of a list have other extents, or there is no such dimension;
///          UsageError if only one exists, or they are compared and differ.
/// Example: as_copies(all_reduce(x)), as_copies(broadcast(x, 0), 1)
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> as_copies(PerDevice<T, N> const& x, std::int64_t axis = 0,
                                        std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::copied_as_copies(x.values(), axis, at));
}
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> as_copies(PerDevice<T, N>&& x, std::int64_t axis = 0,
                                        std::source_location at = std::source_location::current()) {
  return DistArray<T, N>(detail::taken_as_copies(x.values(), axis, at));
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
