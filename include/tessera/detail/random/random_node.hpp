#pragma once
/// @file
/// Random numbers in an expression. They have no array and no shape of their own.
///
/// A cell's random number depends on the key and on its cell number i: the row-major number of the
/// cell in the index space of the statement. If an expression is sliced or transposed, i remains
/// the number in the original expression: a linear function of the statement's index.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/array/expr/moved.hpp"
#include "tessera/detail/array/expr/row_blocks.hpp"
#include "tessera/detail/random/distributions.hpp"
#include "tessera/program/program.hpp"
#include "tessera/random/key.hpp"

namespace tessera::detail {

/// Cell numbers as a linear function of a statement's index: first + sum of strides[d] * index[d]
/// over its last `frame` dimensions. Without a frame, they are the row-major numbers.
struct CellNumbers {
  bool has_frame = false;
  std::size_t frame = 0;
  std::int64_t first = 0;
  std::array<std::int64_t, max_rank> strides{};  ///< of cell numbers, by dimension

  /// The numbers of the same cells after a rearrangement to `dimensions` dimensions.
  [[nodiscard]] CellNumbers moved(Rearrangement const& how, std::size_t dimensions) const;
  /// The numbers as a function of all dimensions of a statement with these extents.
  [[nodiscard]] CellNumbers in(Index const& extents) const;
};

/// An expression whose cells are independent random numbers of distribution D.
template <class D>
struct RandomNode : ExpressionBase {
  using value_type = typename D::value_type;
  static constexpr std::size_t rank = 0;
  static constexpr bool takes_shape = true;  ///< that of the enclosing statement
  D distribution;
  random::StepKey key;
  CellNumbers numbers;

  RandomNode(D const& of, random::StepKey const& from) : distribution(of), key(from) {}
  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
  [[nodiscard]] RandomNode rearranged(Rearrangement const& how, std::size_t dimensions) const {
    auto result = *this;
    result.numbers = numbers.moved(how, dimensions);
    return result;
  }
};

/// The number of cells that a Philox block serves.
template <class Raw>
inline constexpr std::int64_t cells_of_block = sizeof(Raw) == 8 ? 2 : 4;

/// The random numbers of a row of cells.
template <class D>
struct RandomRow {
  D const* distribution;
  std::int64_t const* strides;  ///< of cell numbers, by dimension of the statement
  std::uint64_t key;
  std::int64_t start;   ///< the cell number of the row's first cell
  std::int64_t stride;  ///< of cell numbers along the row
  std::int64_t count;   ///< the number of cells in the row
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    return distribution->finish(distribution->raw_at(key, number(j)));
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) { start += n * strides[d]; }
  [[nodiscard]] TESSERA_FUNCTION std::uint64_t number(std::int64_t j) const {
    return static_cast<std::uint64_t>(start + j * stride);
  }

  /// Writes the first `cells` random numbers of the row, for distributions whose raw numbers are
  /// the values. Whole groups of blocks are written in place; the ends go through a buffer.
  void write_to(typename D::value_type* to, std::int64_t cells) const
      requires(std::same_as<typename D::value_type, typename D::Raw>&& D::is_finished) {
    using Raw = typename D::Raw;
    constexpr std::int64_t per_block = cells_of_block<Raw>;
    constexpr std::int64_t per_group = philox_group * per_block;
    if (stride != 1) {
      for (std::int64_t j = 0; j < cells; ++j) to[j] = distribution->raw_at(key, number(j));
      return;
    }
    auto const draw = [&](std::int64_t first, std::int64_t blocks, Raw* raws) {
      auto const block = static_cast<std::uint64_t>(start + first) / per_block;
      distribution->fill({key, 0, block, blocks}, raws);
    };
    alignas(64) Raw group[static_cast<std::size_t>(per_group)];
    auto const before = start % per_block;
    auto const head = before == 0 ? 0 : std::min(per_block - before, cells);
    if (head != 0) {
      draw(-before, 1, group);
      std::copy_n(group + before, head, to);
    }
    auto const whole = (cells - head) / per_group;
    if (whole != 0) draw(head, whole * philox_group, to + head);
    auto const done = head + whole * per_group;
    if (done == cells) return;
    draw(done, (cells - done + per_block - 1) / per_block, group);
    std::copy_n(group, cells - done, to + done);
  }
};

/// The kernel of a RandomNode: cell numbers are first + sum of strides[d] * index[d].
template <class D>
struct RandomKernel {
  static constexpr KernelEnds ends{};
  D distribution;
  random::StepKey key;
  std::int64_t first;
  std::int64_t strides[max_rank];

  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    auto start = first;
    auto const dimensions = call.extents->size();
    for (std::size_t d = 0; d < dimensions; ++d) start += strides[d] * (*call.first)[d];
    return RandomRow<D>{&distribution,           strides,
                        key.value_at(call.step), start,
                        strides[dimensions - 1], call.extents->back()};
  }
  void pass_numbers(NumberVisitor& visitor) const {
    distribution.pass_numbers(visitor);
    key.pass_numbers(visitor);
    visitor.signed_integer(first);
    for (auto const stride : strides) visitor.signed_integer(stride);
  }
};

template <class D>
[[nodiscard]] auto make_kernel(RandomNode<D> const& node, Builder& builder) {
  if (node.key.step()) (void)make_kernel(*node.key.step(), builder);
  auto const numbers = node.numbers.in(builder.extents());
  RandomKernel<D> kernel{node.distribution, node.key.without_number(), numbers.first, {}};
  for (std::size_t d = 0; d < max_rank; ++d) kernel.strides[d] = numbers.strides[d];
  return kernel;
}

/// A row of raw numbers in a buffer. The loop that reads them computes finish().
template <class D>
struct DrawnRow {
  D distribution;
  typename D::Raw const* raws;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const { return distribution.finish(raws[j]); }
};
template <class D>
inline constexpr bool has_functions<RandomRow<D>> = true;
/// Draws raw numbers up to `cells_ahead` cells ahead, since a call of fill() costs as much as about
/// 40 cells.
template <class D>
struct Block<RandomRow<D>> {
  using Raw = typename D::Raw;
  static constexpr std::int64_t cells_ahead = 1024;
  static constexpr std::int64_t per_block = cells_of_block<Raw>;
  static constexpr std::int64_t room = cells_ahead + (philox_group + 1) * per_block;
  static_assert(cells_ahead >= block_cells);
  alignas(64) Raw raws[static_cast<std::size_t>(room)];
  std::int64_t begin = 0;  ///< `raws` holds cell numbers [begin, end)
  std::int64_t end = 0;

  [[nodiscard]] DrawnRow<D> compute(RandomRow<D> const& row, std::int64_t first,
                                    std::int64_t count) {
    if (row.stride != 1) {
      for (std::int64_t j = 0; j < count; ++j)
        raws[j] = row.distribution->raw_at(row.key, row.number(first + j));
      return {*row.distribution, raws};
    }
    auto const wanted = row.start + first;
    if (wanted < begin || wanted + count > end)
      draw(row, wanted, std::clamp(row.count - first, count, cells_ahead));
    return {*row.distribution, raws + (wanted - begin)};
  }

 private:
  /// Fills `raws` with whole Philox blocks; the first one may begin before cell number `wanted`.
  void draw(RandomRow<D> const& row, std::int64_t wanted, std::int64_t count) {
    auto const block = wanted / per_block;
    begin = block * per_block;
    end = wanted + count;
    row.distribution->fill(
        {row.key, 0, static_cast<std::uint64_t>(block), (end - begin + per_block - 1) / per_block},
        raws);
  }
};
/// Two rows are at a distance if they read the same random numbers, shifted by whole cells.
template <class D>
void measure(RandomRow<D> const& a, RandomRow<D> const& b, Distance& distance) {
  distance.agree(*a.distribution == *b.distribution && a.key == b.key && a.stride == b.stride);
  for (std::size_t d = 0; d < max_rank; ++d) distance.agree(a.strides[d] == b.strides[d]);
  auto const ahead = b.start - a.start;
  if (a.stride == 0) return distance.agree(ahead == 0);
  distance.agree(ahead % a.stride == 0);
  distance.agree(ahead / a.stride);
}

}  // namespace tessera::detail
