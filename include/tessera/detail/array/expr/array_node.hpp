#pragma once
/// @file
/// Cells of an array as an expression reads them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tessera/array/element.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/index/affine_map.hpp"
#include "tessera/index/range.hpp"

namespace tessera::detail {

/// One dimension of an array as a view sees it: cell = offset + stride · (index of dimension
/// `from`).
struct ViewAxis {
  static constexpr int fixed = -1;

  int from = fixed;  ///< fixed: always `offset`
  std::int64_t offset = 0;
  std::int64_t stride = 1;    ///< not 0; 1 where fixed
  std::int64_t per_step = 0;  ///< cells further in each step of the loop; 0 unless fixed

  /// Restricts the axis to these of its cells; dimension `to` now moves it, or it shows one cell.
  [[nodiscard]] ViewAxis narrowed(ResolvedRange const& range, int to,
                                  std::int64_t steps = 0) const {
    return {to, offset + stride * range.first, to == fixed ? 1 : stride * range.step,
            stride * steps};
  }
  friend bool operator==(ViewAxis const&, ViewAxis const&) = default;
};

/// N dimensions of an array of R: the operand of an expression. It keeps the array's cells alive.
template <Element T, std::size_t N, std::size_t R>
class ArrayNode : public ExpressionBase {
 public:
  using value_type = T;
  static constexpr std::size_t rank = N;
  using Axes = std::array<ViewAxis, R>;

  ArrayNode(StatePtr state, Axes const& axes, std::array<std::int64_t, N> const& extents,
            SourceLocation const& location)
      : state_(std::move(state)), axes_(axes), extents_(extents), location_(location) {}
  // Not inline, as the other nodes: their copies and ends are most of what is compiled.
  [[gnu::noinline]] ArrayNode(ArrayNode const&) = default;
  [[gnu::noinline]] ArrayNode(ArrayNode&&) noexcept = default;
  [[gnu::noinline]] ~ArrayNode() = default;
  ArrayNode& operator=(ArrayNode const&) = delete;

  /// The extents, one per dimension.
  [[nodiscard]] std::array<std::int64_t, N> const& extents() const { return extents_; }
  [[nodiscard]] Shape shape() const { return Shape(extents_.begin(), extents_.end()); }
  [[nodiscard]] SourceLocation const& location() const { return location_; }
  [[nodiscard]] Axes const& axes() const { return axes_; }

  /// The array's cells; of partials, their sum, which is made when it is first asked for.
  /// Ranks: local; collective for a partial array.
  [[nodiscard]] StatePtr const& readable() const { return detail::readable(state_); }
  /// What the array holds: its cells, or the partials that nobody has to add up for a view that is
  /// written.
  [[nodiscard]] StatePtr const& storage() const& { return state_; }
  [[nodiscard]] StatePtr storage() && { return std::move(state_); }

  /// How a statement of `rank_in` dimensions sees the array.
  [[nodiscard]] AffineMap map(std::size_t rank_in) const {
    AffineMap result;
    add_map_to(result, rank_in);
    return result;
  }
  /// The same into an empty map: a copy of a new map would wait until all of it has been stored.
  void add_map_to(AffineMap& map, std::size_t rank_in) const {
    map.rank_in = rank_in;
    for (auto const& axis : axes_)
      map.axes.push_back({axis.from, axis.offset, axis.stride, axis.per_step});
  }

 private:
  StatePtr state_;
  Axes axes_;
  std::array<std::int64_t, N> extents_;
  SourceLocation location_;
};

/// True of an ArrayNode, and of a view, which is one.
template <class Node>
concept IsArrayNode = requires(Node const& node) {
  []<class T, std::size_t N, std::size_t R>(ArrayNode<T, N, R> const&) {}(node);
};

/// The element that a node without dimensions shows, on every process. Ranks: collective.
template <class T, std::size_t R>
[[nodiscard]] T element_of(ArrayNode<T, 0, R> const& node) {
  T value;
  // It is read over one index, since a box of no dimensions cannot be empty.
  read_to_host(node.readable(), node.map(1), Box{{0}, {1}}, reinterpret_cast<std::byte*>(&value),
               node.location());
  return value;
}

}  // namespace tessera::detail
