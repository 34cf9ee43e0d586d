#pragma once
/// @file
/// Collectives on values of each device: what MPI and NCCL call by these names, along any
/// dimension, in all lists of a group at once.
///
/// All processes of the job call them; devices that are no members send and receive nothing. Each
/// is one statement under its own name; permute may also write zeros first. Sums add the members'
/// values in the order of their ranks, in float for floats of 16 bits, in double for other floats,
/// and modulo 2^n for integers: the same bits on every member, in every run, whatever route they
/// take. Averages are divided once, before they are rounded.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/array/element.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/ops/collectives/member_values.hpp"
#include "tessera/mesh/partition_spec.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/ops/per_device.hpp"

namespace tessera {
namespace detail {

template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> moved_values(PerDevice<T, N> const& x, MemberCall const& call,
                                           SourceLocation const& location) {
  auto ready_call = ready(x.values(), call);
  if (ready_call.needs_zeros)
    assign_to_view(whole_view<T, N>(ready_call.result.cells, location), T{}, location);
  copy_for(ready_call, call.kind, location);
  return PerDevice<T, N>(std::move(ready_call.result));
}

/// True if values of type T can be combined so.
template <class T>
[[nodiscard]] constexpr bool can_combine(ReduceOp op) {
  if (op == ReduceOp::avg) return !std::is_integral_v<T>;
  return !is_complex<T> || (op != ReduceOp::min && op != ReduceOp::max);
}

template <Number T, std::size_t N, ReduceOp op>
void combine(ReadyCall const& ready_call, char const* name, SourceLocation const& location) {
  if constexpr (can_combine<T>(op) && N < max_rank)
    sum_partials<T, N, typename PartialsOf<T, op>::type>(ready_call.from, ready_call.to, name,
                                                         location);
}

template <Number T, std::size_t N>
[[nodiscard]] PerDevice<T, N> combined_values(PerDevice<T, N> const& x, ReduceOp op,
                                              MemberCall const& call,
                                              SourceLocation const& location) {
  auto const* const name = name_of(call.kind);
  if (!can_combine<T>(op)) refuse_to_combine(name, op);
  auto ready_call = ready(x.values(), call);
  switch (op) {
    case ReduceOp::sum:
      combine<T, N, ReduceOp::sum>(ready_call, name, location);
      break;
    case ReduceOp::prod:
      combine<T, N, ReduceOp::prod>(ready_call, name, location);
      break;
    case ReduceOp::min:
      combine<T, N, ReduceOp::min>(ready_call, name, location);
      break;
    case ReduceOp::max:
      combine<T, N, ReduceOp::max>(ready_call, name, location);
      break;
    case ReduceOp::avg:
      combine<T, N, ReduceOp::avg>(ready_call, name, location);
      break;
  }
  return PerDevice<T, N>(std::move(ready_call.result));
}

}  // namespace detail

/// Each member gets the values of its list, joined along a dimension in the order of the ranks. The
/// values may differ along that dimension.
///
/// axis:    negative ones count from the end.
/// Throws:  ShapeError if the values differ along another dimension, or there is no such one.
/// Cost:    each member is sent the values of the others.
/// Example: all_gather(x, 1)
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> all_gather(
    PerDevice<T, N> const& x, std::int64_t axis,
    std::source_location at = std::source_location::current()) {
  return detail::moved_values(x, {.kind = detail::MemberCall::Kind::all_gather, .axis = axis}, at);
}

/// The same for the member `root` of each list alone. The others have no value then.
///
/// Throws:  as all_gather; IndexError if the group has no such rank.
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> gather(PerDevice<T, N> const& x, std::int64_t root, std::int64_t axis,
                                     std::source_location at = std::source_location::current()) {
  return detail::moved_values(
      x, {.kind = detail::MemberCall::Kind::gather, .axis = axis, .root = root}, at);
}

/// Each member gets a piece of the value of the member `root` of its list; the values of the others
/// are not read.
///
/// sizes:   of the pieces along `axis`, one for each member; none: balanced.
/// Throws:  IndexError if the group has no such rank; ShapeError if the sizes do not add up to the
///          extent, or the roots of several lists have other extents.
/// Example: scatter(x, 0, 1), scatter(x, 0, 1, {5, 0, 3})
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> scatter(PerDevice<T, N> const& x, std::int64_t root,
                                      std::int64_t axis, std::vector<std::int64_t> sizes = {},
                                      std::source_location at = std::source_location::current()) {
  return detail::moved_values(x,
                              {.kind = detail::MemberCall::Kind::scatter,
                               .axis = axis,
                               .root = root,
                               .sizes = std::move(sizes)},
                              at);
}

/// Each member gets the value of the member `root` of its list; the values of the others are not
/// read.
///
/// Throws:  IndexError if the group has no such rank; ShapeError if the roots of several lists have
///          other extents.
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> broadcast(PerDevice<T, N> const& x, std::int64_t root,
                                        std::source_location at = std::source_location::current()) {
  return detail::moved_values(x, {.kind = detail::MemberCall::Kind::broadcast, .root = root}, at);
}

/// Each member gets the values of its list combined cell by cell, in the order of the ranks.
///
/// Throws:  ShapeError if the values have other extents; UsageError for the average of integers, or
///          the smallest or largest of complex numbers.
/// Example: all_reduce(x), all_reduce(x, ReduceOp::max)
template <detail::Number T, std::size_t N>
[[nodiscard]] PerDevice<T, N> all_reduce(
    PerDevice<T, N> const& x, ReduceOp op = ReduceOp::sum,
    std::source_location at = std::source_location::current()) {
  return detail::combined_values(x, op, {.kind = detail::MemberCall::Kind::all_reduce}, at);
}

/// The same for the member `root` of each list alone. The others have no value then.
///
/// Throws:  as all_reduce; IndexError if the group has no such rank.
template <detail::Number T, std::size_t N>
[[nodiscard]] PerDevice<T, N> reduce(PerDevice<T, N> const& x, std::int64_t root,
                                     ReduceOp op = ReduceOp::sum,
                                     std::source_location at = std::source_location::current()) {
  return detail::combined_values(x, op, {.kind = detail::MemberCall::Kind::reduce, .root = root},
                                 at);
}

/// Each member gets its piece of what all_reduce would give.
///
/// sizes:   of the pieces along `axis`, one for each member; none: balanced.
/// Throws:  as all_reduce; ShapeError also if the sizes do not add up to the extent.
/// Example: reduce_scatter(x, 0), reduce_scatter(x, 1, ReduceOp::max)
template <detail::Number T, std::size_t N>
[[nodiscard]] PerDevice<T, N> reduce_scatter(
    PerDevice<T, N> const& x, std::int64_t axis, ReduceOp op = ReduceOp::sum,
    std::vector<std::int64_t> sizes = {},
    std::source_location at = std::source_location::current()) {
  return detail::combined_values(
      x, op,
      {.kind = detail::MemberCall::Kind::reduce_scatter, .axis = axis, .sizes = std::move(sizes)},
      at);
}

/// The dimensions of an all_to_all of values.
struct SplitAndJoin {
  std::int64_t split = 0;                ///< along it each value is cut into pieces
  std::int64_t join = 0;                 ///< along it each member joins the pieces that it gets
  std::vector<std::int64_t> sizes = {};  ///< of the pieces, one for each member; none: balanced
};

/// Each member gets its piece of each value of its list, and joins them in the order of the ranks.
/// Along one and the same dimension, pieces are equal.
///
/// Throws:  ShapeError if the values differ along another dimension than `join`, the sizes do not
///          add up, or pieces that must be equal would not be.
/// Example: all_to_all(x), all_to_all(x, {.split = 0, .join = 1})
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> all_to_all(
    PerDevice<T, N> const& x, SplitAndJoin dimensions = {},
    std::source_location at = std::source_location::current()) {
  return detail::moved_values(x,
                              {.kind = detail::MemberCall::Kind::all_to_all,
                               .axis = dimensions.split,
                               .joined = dimensions.join,
                               .sizes = std::move(dimensions.sizes)},
                              at);
}

/// Each member sends counts(member, to) cells along a dimension to each rank of its list, in the
/// order of the ranks, and joins what it gets in the order of the senders.
///
/// counts:  of a Member and a rank; every process calls it for all members.
/// Throws:  ShapeError if a member's counts do not add up to its extent, or the values differ along
///          another dimension.
/// Cost:    every process lists the counts of all pairs.
/// Example: all_to_all(x, 0, [](Member m, std::int64_t to) { return m.rank == to ? 2 : 0; })
template <Element T, std::size_t N, class F>
requires(std::is_invocable_r_v<std::int64_t, F const&, Member, std::int64_t>)
    [[nodiscard]] PerDevice<T, N> all_to_all(
        PerDevice<T, N> const& x, std::int64_t axis, F const& counts,
        std::source_location at = std::source_location::current()) {
  auto const& group = x.group();
  detail::MemberCall call{
      .kind = detail::MemberCall::Kind::all_to_all, .axis = axis, .joined = axis};
  for (std::int64_t list = 0; list < group.count(); ++list)
    for (std::int64_t rank = 0; rank < group.size(); ++rank)
      for (std::int64_t to = 0; to < group.size(); ++to)
        call.counts.push_back(counts({rank, list, group.device(rank, list)}, to));
  return detail::moved_values(x, call, at);
}
/// The same with counts that only the senders know: each member's value of `counts` has one for
/// each rank of its list.
///
/// Ranks:   collective; waits, since the counts are sent first.
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> all_to_all(
    PerDevice<T, N> const& x, std::int64_t axis, PerDevice<std::int64_t, 1> const& counts,
    std::source_location at = std::source_location::current()) {
  return detail::moved_values(x,
                              {.kind = detail::MemberCall::Kind::all_to_all,
                               .axis = axis,
                               .joined = axis,
                               .counts = detail::counts_of(x.values(), counts.values(), at)},
                              at);
}

/// A value's way from one rank to another.
using Moves = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// In each list, the value of each first rank goes to the second one. Members that receive nothing
/// have zeros, of the extents that their own value had.
///
/// Throws:  IndexError if the group has no such rank; ShapeError if a rank sends or receives twice.
/// Example: permute(x, {{0, 1}, {1, 2}, {2, 0}})
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> permute(PerDevice<T, N> const& x, Moves moves,
                                      std::source_location at = std::source_location::current()) {
  return detail::moved_values(
      x, {.kind = detail::MemberCall::Kind::permute, .moves = std::move(moves)}, at);
}

/// In each list, the member `to` gets the value of the member `from`. The others have no value
/// then.
///
/// Throws:  IndexError if the group has no such rank.
/// Example: send_recv(x, 0, 3)
template <Element T, std::size_t N>
[[nodiscard]] PerDevice<T, N> send_recv(PerDevice<T, N> const& x, std::int64_t from,
                                        std::int64_t to,
                                        std::source_location at = std::source_location::current()) {
  return detail::moved_values(
      x, {.kind = detail::MemberCall::Kind::send_recv, .moves = {{from, to}}}, at);
}

/// Waits until the devices of each list have executed the statements so far, and this process's
/// devices, too. Processes without members only wait for their own devices.
///
/// Ranks:   collective. Values need no barrier: who reads them waits for them. It is for clocks,
///          files and other things that the library does not see.
/// Throws:  ShardingError if the job lacks a device.
/// Example: barrier(tp);
inline void barrier(Group const& group, std::source_location at = std::source_location::current()) {
  auto const arrived = per_device<std::int32_t>(group, {1}, [](Member, auto) { return 1; });
  auto const told = detail::combined_values(arrived, ReduceOp::max,
                                            {.kind = detail::MemberCall::Kind::barrier}, at);
  per_member([](auto const&) {}, told);
}

}  // namespace tessera
