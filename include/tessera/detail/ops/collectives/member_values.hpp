#pragma once
/// @file
/// The values of a group's members without their element type, and what collectives make of them.
///
/// The values lie side by side in one array, list after list and member after member, along one
/// dimension. So a collective is one statement between two layouts of the cells: for all_gather
/// along another dimension, the same cells are seen as an array cut along that dimension.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/index/index.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/mesh/group.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera::detail {

/// The extents of the members' values, and the array in which they lie.
struct MemberShapes {
  Group group;
  Shape shape;                           ///< of a value; along `axis` of the longest one
  std::size_t axis = 0;                  ///< the dimension along which they lie
  std::vector<std::int64_t> sizes;       ///< of each member along it; empty: all alike
  std::optional<std::int64_t> only;      ///< the rank whose value exists, if not all do
  std::shared_ptr<Layout const> layout;  ///< of all values

  /// The extents of a member's value. Throws: IndexError if there is no such member; UsageError if
  /// its value does not exist.
  [[nodiscard]] Shape shape_of(std::int64_t rank, std::int64_t list) const;
};
using MemberShapesPtr = std::shared_ptr<MemberShapes const>;

/// The values.
struct MemberValues {
  MemberShapesPtr shapes;
  StatePtr cells;
};

/// Values with equal extents.
/// Throws: ShapeError for a negative extent or too many cells.
[[nodiscard]] MemberShapesPtr equal_shapes(Group const& group, Shape const& shape);
/// Values with these extents, which differ along at most one dimension.
/// Throws: ShapeError as above, and naming two members that differ along more.
[[nodiscard]] MemberShapesPtr shapes_by(
    Group const& group, std::size_t rank,
    std::function<Shape(tessera::Member const&)> const& shape_of);
/// Room for values, which are not set.
[[nodiscard]] MemberValues make_values(MemberShapesPtr shapes, std::int64_t element_bytes);
[[nodiscard]] MemberValues copied(MemberValues const& values);
/// The cells of a member's value in row-major order, on every process. Ranks: collective.
/// Throws: as shape_of.
void read_member(MemberValues const& values, std::int64_t rank, std::int64_t list, std::byte* into,
                 SourceLocation const& location);
/// The member whose value a shard holds; none if it has no value. The box of the shard then begins
/// at 0.
[[nodiscard]] std::optional<tessera::Member> member_of(MemberShapes const& shapes, RawShard& shard);

/// Calls `f` on this process's devices for each member that has all values, with its cells of each;
/// it may change those that are `written`. Waits for the statements so far.
/// Throws: UsageError unless all are values of one group, and each that is written is there once;
///         what `f` throws.
void visit_members(std::span<MemberValues const> values, std::span<bool const> written,
                   std::function<void(tessera::Member const&, std::span<RawShard const>)> const& f);
/// Throws: UsageError if `operands` are of several groups, or no member has all of them.
void check_results(std::span<MemberValues const> operands);
/// Values of one dimension for the members that have all of `operands`: with `count` cells, or with
/// as many as count_of(device) says, which each process knows for its own members.
/// Ranks:  the second one is collective, and waits.
[[nodiscard]] MemberShapesPtr shapes_of_results(std::span<MemberValues const> operands,
                                                std::int64_t count);
[[nodiscard]] MemberShapesPtr shapes_of_results(
    std::span<MemberValues const> operands, std::function<std::int64_t(DeviceId)> const& count_of);

/// What a collective asks.
struct MemberCall {
  enum class Kind : std::uint8_t {
    all_gather,
    gather,
    scatter,
    broadcast,
    reduce,
    all_reduce,
    reduce_scatter,
    all_to_all,
    permute,
    send_recv,
    barrier,
  };
  using Moves = std::vector<std::pair<std::int64_t, std::int64_t>>;

  Kind kind;
  std::int64_t axis = 0;  ///< of all_gather, gather, scatter, reduce_scatter; of all_to_all: split
  std::int64_t joined = 0;  ///< of all_to_all
  std::int64_t root = 0;
  std::vector<std::int64_t> sizes = {};  ///< of the pieces; empty: balanced
  /// Of all_to_all along one dimension: the cells from each member to each of its list, list after
  /// list and sender after sender; empty: as `sizes` says.
  std::vector<std::int64_t> counts = {};
  Moves moves = {};  ///< of permute and send_recv: from rank, to rank

  friend bool operator==(MemberCall const&, MemberCall const&) = default;
};

/// The counts that the members of a group have, on every process. Ranks: collective.
/// Throws: UsageError for values of another group; ShapeError unless each has one for each rank.
[[nodiscard]] std::vector<std::int64_t> counts_of(MemberValues const& values,
                                                  MemberValues const& counts,
                                                  SourceLocation const& location);
/// "all_gather"
[[nodiscard]] char const* name_of(MemberCall::Kind kind);

/// Throws: UsageError, saying what to do.
[[noreturn]] void refuse_to_combine(char const* call, ReduceOp op);

/// A collective that is ready: `to` = `from`, or its reduction along dimension 0. Both show cells
/// of the values and of the result.
struct ReadyCall {
  MemberValues result;
  StatePtr from;
  StatePtr to;
  bool needs_zeros = false;          ///< some of the result is not written
  std::optional<std::int64_t> root;  ///< the place along dimension 0 of `from` that is copied
};

/// Finds out how, and makes room for the result.
/// Ranks:  collective; the second call with equal shapes plans nothing.
/// Throws: ShapeError, IndexError, UsageError, on every process alike, naming the group.
[[nodiscard]] ReadyCall ready(MemberValues const& values, MemberCall const& call);
/// Copies for a collective that adds nothing up.
void copy_for(ReadyCall const& ready, MemberCall::Kind kind, SourceLocation const& location);

/// The values as one array, side by side along a dimension: a copy, or made of their own cells,
/// which are then gone.
/// Throws: ShapeError if they differ along another one; UsageError if only one exists.
[[nodiscard]] StatePtr copied_side_by_side(MemberValues const& values, std::int64_t axis,
                                           SourceLocation const& location);
[[nodiscard]] StatePtr taken_side_by_side(MemberValues& values, std::int64_t axis);
/// Equal values of a list as copies; lists lie side by side along a dimension.
/// Throws: ShapeError if values of a list differ in extents; UsageError if only one exists, or,
/// with
///         TESSERA_CHECK=communication, if cells differ.
[[nodiscard]] StatePtr copied_as_copies(MemberValues const& values, std::int64_t axis,
                                        SourceLocation const& location);
[[nodiscard]] StatePtr taken_as_copies(MemberValues& values, std::int64_t axis,
                                       SourceLocation const& location);
/// The values as an array whose new dimension 0 counts the members; lists lie side by side along
/// dimension 0 of a value.
/// Throws: ShapeError if they differ; UsageError if only one exists.
[[nodiscard]] StatePtr copied_as_layers(MemberValues const& values, SourceLocation const& location);
[[nodiscard]] StatePtr taken_as_layers(MemberValues& values);

/// What each device of a mesh holds of an array, as values of the members along `axes`.
/// Throws: ShardingError if devices hold several boxes, or as Group; ShapeError if their boxes
///         differ along two dimensions.
[[nodiscard]] MemberShapesPtr local_shapes(Layout const& layout, SpecEntry const& axes);
/// These values: a copy, or made of the array's own cells where nobody else names them.
[[nodiscard]] MemberValues copied_values(MemberShapesPtr shapes, StatePtr const& array,
                                         SourceLocation const& location);
[[nodiscard]] MemberValues taken_values(MemberShapesPtr shapes, StatePtr array);

}  // namespace tessera::detail
