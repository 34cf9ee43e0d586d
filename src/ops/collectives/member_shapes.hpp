#pragma once
/// @file
/// Layouts under which collectives see the values of a group's members. Pure.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tessera/detail/ops/collectives/member_values.hpp"
#include "tessera/index/index.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/mesh/group.hpp"
#include "tessera/mesh/mesh.hpp"

#include "src/execution/storage/array_state.hpp"

namespace tessera::detail {

using Sizes = std::vector<std::int64_t>;

/// Values with these extents along `axis`, one for each member of each list in turn; none: all are
/// as `shape`. Throws: ShapeError.
[[nodiscard]] MemberShapesPtr make_shapes(Group const& group, Shape const& shape, std::size_t axis,
                                          Sizes sizes, std::optional<std::int64_t> only = {});

/// The axes of an alias whose dimensions are those of a value.
[[nodiscard]] AliasAxes same_axes(std::size_t rank);

/// A layout of the values' cells, and how its dimensions follow from those of a value.
struct Seen {
  std::shared_ptr<Layout const> layout;
  AliasAxes axes = {};
  std::size_t joined = 0;  ///< the dimension along which several boxes of a device are joined
};

/// The values side by side along a dimension: list after list, member after member.
/// Throws: ShapeError if they differ along another one.
[[nodiscard]] Seen side_by_side(MemberShapes const& shapes, std::size_t axis);
/// The lists' values side by side along a dimension; all members of a list have the same value.
[[nodiscard]] Seen lists_side_by_side(MemberShapes const& shapes, std::size_t axis);
/// The lists side by side along `joined`, and each list's members along `axis`, another dimension.
[[nodiscard]] Seen crosswise(MemberShapes const& shapes, std::size_t axis, std::size_t joined);
/// With a new dimension 0 that counts the members of a list; lists lie side by side along dimension
/// 1, dimension 0 of a value. The values have equal extents.
[[nodiscard]] Seen one_by_one(MemberShapes const& shapes);
/// `axis` as two dimensions: pieces for each member of a list, and the cells of a piece. The pieces
/// are whole, and the cells of all values lie side by side.
[[nodiscard]] Seen in_pieces(MemberShapes const& shapes, std::size_t axis);
/// The same cells where each member has its piece of each value of its list, joined.
[[nodiscard]] Seen pieces_joined(MemberShapes const& shapes, std::size_t axis);
/// Along `axis`, where each member has its pieces of all values of its list, in the order of the
/// senders. `counts` as in MemberCall.
[[nodiscard]] Seen pieces_by_counts(MemberShapes const& shapes, std::size_t axis,
                                    Sizes const& counts);
/// The values of some members of each list alone, by rank; as they lie.
[[nodiscard]] Seen of_ranks(MemberShapes const& shapes, Sizes const& ranks);

/// The extent along `axis` of all values of a list together.
[[nodiscard]] std::int64_t joined_extent(MemberShapes const& shapes, std::size_t axis,
                                         std::int64_t list);

}  // namespace tessera::detail
