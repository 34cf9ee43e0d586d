#pragma once
/// @file
/// Rows with functions, read a block of cells at a time.
///
/// The library computes exp and similar functions for many cells at once. So the arguments of a
/// block are written into a buffer, the library replaces them by values, and the rest of the
/// expression reads the buffer:
///
///     2.0 * exp(a + b)   →   buffer = a + b;  compute(exp, buffer);  2.0 * buffer

#include <algorithm>
#include <cstdint>

#include "tessera/detail/array/expr/row.hpp"

namespace tessera::detail {

/// The most cells of a block.
inline constexpr std::int64_t block_cells = 256;

/// True if some part of a row is computed for a block of cells at once.
template <class Row>
inline constexpr bool has_functions = false;
template <class Op, class C, class... Rows>
inline constexpr bool has_functions<OperationRow<Op, C, Rows...>> = BlockOperation<Op, C> ||
                                                                    (has_functions<Rows> || ...);
template <class C, class... Rows>
inline constexpr bool has_functions<WhereRow<C, Rows...>> = (has_functions<Rows> || ...);

/// The buffers of a row. compute(row, first, count) fills them for the cells from `first` on, and
/// returns a row whose cell 0 is that one; it lives as long as the buffers stay as they are.
template <class Row>
struct Block {
  struct FromFirst {
    Row row;
    std::int64_t first;
    TESSERA_FUNCTION auto operator()(std::int64_t j) const { return row(first + j); }
  };
  [[nodiscard]] FromFirst compute(Row const& row, std::int64_t first, std::int64_t) {
    return {row, first};
  }
};
template <class Row>
using ComputedRow = decltype(std::declval<Block<Row>&>().compute(std::declval<Row const&>(), 0, 0));

template <class Op, class C, class A>
requires(!BlockOperation<Op, C> && has_functions<A>) struct Block<OperationRow<Op, C, A>> {
  Block<A> a;
  [[nodiscard]] auto compute(OperationRow<Op, C, A> const& row, std::int64_t first,
                             std::int64_t count) {
    return OperationRow<Op, C, ComputedRow<A>>{a.compute(row.a, first, count)};
  }
};
template <class Op, class C, class A, class B>
requires(!BlockOperation<Op, C> &&
         (has_functions<A> || has_functions<B>)) struct Block<OperationRow<Op, C, A, B>> {
  Block<A> a;
  Block<B> b;
  [[nodiscard]] auto compute(OperationRow<Op, C, A, B> const& row, std::int64_t first,
                             std::int64_t count) {
    return OperationRow<Op, C, ComputedRow<A>, ComputedRow<B>>{a.compute(row.a, first, count),
                                                               b.compute(row.b, first, count)};
  }
};
template <class C, class Condition, class A, class B>
requires(has_functions<WhereRow<C, Condition, A, B>>) struct Block<WhereRow<C, Condition, A, B>> {
  Block<Condition> condition;
  Block<A> a;
  Block<B> b;
  [[nodiscard]] auto compute(WhereRow<C, Condition, A, B> const& row, std::int64_t first,
                             std::int64_t count) {
    return WhereRow<C, ComputedRow<Condition>, ComputedRow<A>, ComputedRow<B>>{
        condition.compute(row.condition, first, count), a.compute(row.a, first, count),
        b.compute(row.b, first, count)};
  }
};

/// Values in a buffer; floating types of 16 bits are computed as float.
template <class C>
using BufferRow =
    std::conditional_t<is_half<C>, OperationRow<CastTo<C>, float, UnitRow<float>>, UnitRow<C>>;

/// The arguments of a function, one per cell, that become its values.
template <class C, class A>
struct Arguments {
  Block<A> a;
  alignas(64) Computed<C> cells[block_cells];
  void write(A const& row, std::int64_t first, std::int64_t count) {
    auto const arguments = a.compute(row, first, count);
    for (std::int64_t j = 0; j < count; ++j)
      cells[j] = static_cast<Computed<C>>(convert<C>(arguments(j)));
  }
  [[nodiscard]] BufferRow<C> values() const { return {UnitRow<Computed<C>>{{cells}}}; }
};

template <class Op, class C, class A>
requires(BlockOperation<Op, C>) struct Block<OperationRow<Op, C, A>> {
  Arguments<C, A> a;
  [[nodiscard]] BufferRow<C> compute(OperationRow<Op, C, A> const& row, std::int64_t first,
                                     std::int64_t count) {
    a.write(row.a, first, count);
    detail::compute(Op::function, a.cells, count);
    return a.values();
  }
};
template <class Op, class C, class A, class B>
requires(BlockOperation<Op, C>) struct Block<OperationRow<Op, C, A, B>> {
  Arguments<C, A> a;
  Arguments<C, B> b;
  [[nodiscard]] BufferRow<C> compute(OperationRow<Op, C, A, B> const& row, std::int64_t first,
                                     std::int64_t count) {
    a.write(row.a, first, count);
    b.write(row.b, first, count);
    detail::compute(Op::function, a.cells, b.cells, count);
    return a.values();
  }
};

/// Calls visit(cells, first, n) for parts of a row's cells [first, end), in order: cells(j) is cell
/// first + j of the row, j < n. A row without functions is one part.
template <class Row, class Visit>
void visit_blocks(Row const& row, std::int64_t first, std::int64_t end, Visit const& visit) {
  if constexpr (has_functions<Row>) {
    Block<Row> block;
    for (; first < end; first += block_cells) {
      auto const count = std::min(block_cells, end - first);
      visit(block.compute(row, first, count), first, count);
    }
  } else {
    visit(Block<Row>().compute(row, first, end - first), first, end - first);
  }
}

/// Writes one cell; a complex one part by part, since g++ makes few vectors of whole ones.
template <class T, class S>
void write_cell(T& cell, S const& value) {
  if constexpr (is_complex<T>) {
    auto const number = convert<T>(value);
    auto* const parts = reinterpret_cast<real_of<T>*>(&cell);
    parts[0] = number.real();
    parts[1] = number.imag();
  } else {
    cell = convert<T>(value);
  }
}

/// Writes `count` cells that lie `stride` elements apart, 1 if `unit`.
template <bool unit, class T, class Row>
void write_cells(T* to, std::int64_t stride, Row const& cells, std::int64_t count) {
  if constexpr (unit) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) write_cell(to[j], cells(j));
  } else {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) write_cell(to[j * stride], cells(j));
  }
}

/// Writes rows of a box: the function behind a KernelFunction. The value is converted to T.
template <class Kernel, class T, bool unit>
void assign_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto row = static_cast<Kernel const*>(call.kernel)->template row<unit>(call);
  RowOfCells<T> target{reinterpret_cast<T*>(call.target), call.target_strides};
  auto const write = [&] {
    auto const cells = row;  // all of these stay in registers while the row is written
    T* const to = target.first;
    auto const stride = call.target_strides->back();
    auto const count = call.extents->back();
    if constexpr (has_functions<decltype(row)>)
      visit_blocks(cells, 0, count, [&](auto const& block, std::int64_t begin, std::int64_t n) {
        write_cells<unit>(to + begin * stride, stride, block, n);
      });
    else
      write_cells<unit>(to, stride, cells, count);
  };
  visit_rows(*call.extents, first, last, write, row, target);
}

}  // namespace tessera::detail
