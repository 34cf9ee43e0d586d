#pragma once
/// @file
/// Random numbers in an expression: without an array, and without a shape of their own.
///
/// A cell's number depends on its key and on i, the row-major number of the cell in the index space
/// of the statement. In an expression that is sliced or transposed, i is the number in that
/// expression as it was before: a linear function of the statement's index.

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

/// The numbers of cells as a linear function of an index of `frame` dimensions, the last ones of a
/// statement; without a frame, the row-major numbers of all of the statement's.
struct CellNumbers {
  bool has_frame = false;
  std::size_t frame = 0;
  std::int64_t first = 0;
  std::array<std::int64_t, max_rank> steps{};  ///< along each dimension

  /// The same cells after a rearrangement to `dimensions`.
  [[nodiscard]] CellNumbers moved(Rearrangement const& how, std::size_t dimensions) const;
  /// In the dimensions of a statement of these extents.
  [[nodiscard]] CellNumbers in(Index const& extents) const;
};

/// Random numbers of a distribution D: each cell has its own.
template <class D>
struct RandomNode : ExpressionBase {
  using value_type = typename D::value_type;
  static constexpr std::size_t rank = 0;
  static constexpr bool takes_shape = true;  ///< from the statement around it
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

/// How many cells a block of Philox serves.
template <class Raw>
inline constexpr std::int64_t cells_of_block = sizeof(Raw) == 8 ? 2 : 4;

/// The numbers of a row of cells.
template <class D>
struct RandomRow {
  D const* distribution;
  std::int64_t const* steps;  ///< of the cells' numbers, along the statement's dimensions
  std::uint64_t key;
  std::int64_t start;  ///< the number of the row's first cell
  std::int64_t inner;  ///< the step along the row
  std::int64_t count;  ///< of the row's cells
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    return distribution->finish(distribution->raw_at(key, number(j)));
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) { start += n * steps[d]; }
  [[nodiscard]] TESSERA_FUNCTION std::uint64_t number(std::int64_t j) const {
    return static_cast<std::uint64_t>(start + j * inner);
  }

  /// Writes so many cells, whose numbers need no more work than to be drawn. Whole groups of blocks
  /// go where they belong, and those at the ends through a buffer.
  void write_to(typename D::value_type* to, std::int64_t cells) const
      requires(std::same_as<typename D::value_type, typename D::Raw>&& D::is_finished) {
    using Raw = typename D::Raw;
    constexpr std::int64_t per_block = cells_of_block<Raw>;
    constexpr std::int64_t per_group = philox_group * per_block;
    if (inner != 1) {
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

template <class D>
struct RandomKernel {
  static constexpr KernelEnds ends{};
  D distribution;
  random::StepKey key;
  std::int64_t first;
  std::int64_t steps[max_rank];

  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    auto start = first;
    auto const dimensions = call.extents->size();
    for (std::size_t d = 0; d < dimensions; ++d) start += steps[d] * (*call.first)[d];
    return RandomRow<D>{&distribution,           steps,
                        key.value_at(call.step), start,
                        steps[dimensions - 1],   call.extents->back()};
  }
  void pass_numbers(NumberVisitor& visitor) const {
    distribution.pass_numbers(visitor);
    key.pass_numbers(visitor);
    visitor.signed_integer(first);
    for (auto const step : steps) visitor.signed_integer(step);
  }
};

template <class D>
[[nodiscard]] auto make_kernel(RandomNode<D> const& node, Builder& builder) {
  if (node.key.step()) (void)make_kernel(*node.key.step(), builder);
  auto const numbers = node.numbers.in(builder.extents());
  RandomKernel<D> kernel{node.distribution, node.key.without_number(), numbers.first, {}};
  for (std::size_t d = 0; d < max_rank; ++d) kernel.steps[d] = numbers.steps[d];
  return kernel;
}

/// The numbers of a block, of which the last step is left to the loop that reads them.
template <class D>
struct DrawnRow {
  D distribution;
  typename D::Raw const* raws;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const { return distribution.finish(raws[j]); }
};
template <class D>
inline constexpr bool has_functions<RandomRow<D>> = true;
/// Draws the numbers of several blocks of a row ahead, as a call costs as much as some 40 cells.
template <class D>
struct Block<RandomRow<D>> {
  using Raw = typename D::Raw;
  static constexpr std::int64_t cells_ahead = 1024;
  static constexpr std::int64_t per_block = cells_of_block<Raw>;
  static constexpr std::int64_t room = cells_ahead + (philox_group + 1) * per_block;
  static_assert(cells_ahead >= block_cells);
  alignas(64) Raw raws[static_cast<std::size_t>(room)];
  std::int64_t begin = 0;  ///< the numbers of the cells whose raws these are
  std::int64_t end = 0;

  [[nodiscard]] DrawnRow<D> compute(RandomRow<D> const& row, std::int64_t first,
                                    std::int64_t count) {
    if (row.inner != 1) {
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
  /// Whole blocks, of which the first may begin before the first cell that is wanted.
  void draw(RandomRow<D> const& row, std::int64_t wanted, std::int64_t count) {
    auto const block = wanted / per_block;
    begin = block * per_block;
    end = wanted + count;
    row.distribution->fill(
        {row.key, 0, static_cast<std::uint64_t>(block), (end - begin + per_block - 1) / per_block},
        raws);
  }
};
/// Rows of the same numbers, any distance apart: rows that are read at neighbouring cells.
template <class D>
void measure(RandomRow<D> const& a, RandomRow<D> const& b, Distance& distance) {
  distance.agree(*a.distribution == *b.distribution && a.key == b.key && a.inner == b.inner);
  for (std::size_t d = 0; d < max_rank; ++d) distance.agree(a.steps[d] == b.steps[d]);
  auto const ahead = b.start - a.start;
  if (a.inner == 0) return distance.agree(ahead == 0);
  distance.agree(ahead % a.inner == 0);
  distance.agree(ahead / a.inner);
}

}  // namespace tessera::detail
