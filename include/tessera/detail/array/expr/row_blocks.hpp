#pragma once
/// @file
/// Rows with functions, read a block of cells at a time.
///
/// The library computes exp and similar functions for many cells at once. So the arguments of a
/// block are written into a buffer, the library writes the values into another one, and the rest of
/// the expression reads that:
///
///     2.0 * exp(a + b)   →   buffer = a + b;  compute(exp, buffer, values);  2.0 * values
///
/// Arguments that lie side by side already are read where they are.
///
/// So is what a program names by let(): its values are written into a buffer, and all reads of it
/// in a row, at the same cells or at a distance along the row, read this buffer.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "tessera/detail/array/expr/row.hpp"

namespace tessera::detail {

/// The most cells of a block.
inline constexpr std::int64_t block_cells = 256;
/// How far apart reads of a let may be that share its values; a block has as many cells less.
inline constexpr std::int64_t let_reach = 16;

/// How many lets of a row are inside each other.
template <class Row>
inline constexpr std::int64_t let_depth = 0;
template <class Op, class C, class... Rows>
inline constexpr std::int64_t let_depth<OperationRow<Op, C, Rows...>> =
    std::max({let_depth<Rows>...}) + (std::same_as<Op, Let> ? 1 : 0);
template <class C, class... Rows>
inline constexpr std::int64_t let_depth<WhereRow<C, Rows...>> = std::max({let_depth<Rows>...});

/// True if some part of a row is computed for a block of cells at once.
template <class Row>
inline constexpr bool has_functions = false;
template <class Op, class C, class... Rows>
inline constexpr bool has_functions<OperationRow<Op, C, Rows...>> = BlockOperation<Op, C> ||
                                                                    std::same_as<Op, Let> ||
                                                                    (has_functions<Rows> || ...);
template <class C, class... Rows>
inline constexpr bool has_functions<WhereRow<C, Rows...>> = (has_functions<Rows> || ...);

/// The buffers of a row. compute(row, first, count) fills them for the cells from `first` on, and
/// returns a row whose cell 0 is that one; it lives as long as the buffers stay as they are.
template <class Row>
struct Block {
  [[nodiscard]] auto compute(Row const& row, std::int64_t first, std::int64_t) {
    return row_from(row, first);
  }
};
template <class Row>
using ComputedRow = decltype(std::declval<Block<Row>&>().compute(std::declval<Row const&>(), 0, 0));

template <class Op, class C, class A>
requires(!BlockOperation<Op, C> && !std::same_as<Op, Let> &&
         has_functions<A>) struct Block<OperationRow<Op, C, A>> {
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

/// True if a row has cells of type T side by side.
template <class T, class Row>
inline constexpr bool is_unit_row_of = false;
template <class T, class S>
inline constexpr bool is_unit_row_of<T, UnitRow<T, S> const> = true;

/// Values in a buffer; floating types of 16 bits are computed as float.
template <class C>
using BufferRow =
    std::conditional_t<is_half<C>, OperationRow<CastTo<C>, float, UnitRow<float>>, UnitRow<C>>;

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

/// Cells of an expression in a buffer.
template <class C, class A>
struct Buffer {
  Block<A> a;
  alignas(64) Computed<C> cells[block_cells];
  void write(A const& row, std::int64_t first, std::int64_t count) {
    write(a.compute(row, first, count), count);
  }
  /// Where the cells lie side by side: in memory, or else in the buffer.
  [[nodiscard]] Computed<C> const* place(A const& row, std::int64_t first, std::int64_t count) {
    auto const computed = a.compute(row, first, count);
    if constexpr (std::same_as<C, Computed<C>> && is_unit_row_of<C, decltype(computed)>) {
      return computed.first;
    } else {
      write(computed, count);
      return cells;
    }
  }
  [[nodiscard]] BufferRow<C> values(std::int64_t from) const {
    return {UnitRow<Computed<C>>{{cells + from}}};
  }

 private:
  template <class Row>
  void write(Row const& computed, std::int64_t count) {
#pragma GCC ivdep
    for (std::int64_t j = 0; j < count; ++j) write_cell(cells[j], convert<C>(computed(j)));
  }
};

template <class Op, class C, class A>
requires(BlockOperation<Op, C>) struct Block<OperationRow<Op, C, A>> {
  Buffer<C, A> a;
  alignas(64) Computed<C> values[block_cells];
  [[nodiscard]] BufferRow<C> compute(OperationRow<Op, C, A> const& row, std::int64_t first,
                                     std::int64_t count) {
    detail::compute(Op::function, a.place(row.a, first, count), values, count);
    return {UnitRow<Computed<C>>{{values}}};
  }
};
template <class Op, class C, class A, class B>
requires(BlockOperation<Op, C>) struct Block<OperationRow<Op, C, A, B>> {
  Buffer<C, A> a;
  Buffer<C, B> b;
  alignas(64) Computed<C> values[block_cells];
  [[nodiscard]] BufferRow<C> compute(OperationRow<Op, C, A, B> const& row, std::int64_t first,
                                     std::int64_t count) {
    auto const* const of_a = a.place(row.a, first, count);
    auto const* const of_b = b.place(row.b, first, count);
    detail::compute(Op::function, of_a, of_b, values, count);
    return {UnitRow<Computed<C>>{{values}}};
  }
};

/// How far a row is ahead of another one of its type, in this row and in those that they move to:
/// b(j) is a(j + cells), since that is where both read memory.
struct Distance {
  std::int64_t cells = 0;
  bool is_known = false;  ///< else it is any
  bool exists = true;

  void agree(bool is_same) { exists = exists && is_same; }
  void agree(std::int64_t n) {
    agree(!is_known || cells == n);
    cells = n;
    is_known = true;
  }
  void agree(void const* a, void const* b, std::int64_t bytes_per_cell) {
    auto const bytes = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(b) -
                                                 reinterpret_cast<std::uintptr_t>(a));
    if (bytes_per_cell == 0) return agree(bytes == 0);
    agree(bytes % bytes_per_cell == 0);
    agree(bytes / bytes_per_cell);
  }
};
template <class T, class S>
void measure(UnitRow<T, S> const& a, UnitRow<T, S> const& b, Distance& distance) {
  distance.agree(*a.strides == *b.strides);
  distance.agree(a.first, b.first, sizeof(T));
}
template <class T, class S>
void measure(StridedRow<T, S> const& a, StridedRow<T, S> const& b, Distance& distance) {
  distance.agree(*a.strides == *b.strides);
  distance.agree(a.first, b.first, a.stride * static_cast<std::int64_t>(sizeof(T)));
}
template <class T>
void measure(ConstantRow<T> const& a, ConstantRow<T> const& b, Distance& distance) {
  distance.agree(std::memcmp(&a.value, &b.value, sizeof(T)) == 0);  // NOLINT: -0.0 is not 0.0
}
inline void measure(IndexRow const& a, IndexRow const& b, Distance& distance) {
  distance.agree(a.dimension == b.dimension && a.inner == b.inner);
  if (a.inner == 0)
    distance.agree(a.start == b.start);
  else
    distance.agree(b.start - a.start);
}
template <class Op, class C, class A>
void measure(OperationRow<Op, C, A> const& a, OperationRow<Op, C, A> const& b, Distance& distance) {
  measure(a.a, b.a, distance);
}
template <class Op, class C, class A, class B>
void measure(OperationRow<Op, C, A, B> const& a, OperationRow<Op, C, A, B> const& b,
             Distance& distance) {
  measure(a.a, b.a, distance);
  measure(a.b, b.b, distance);
}
template <class C, class Condition, class A, class B>
void measure(WhereRow<C, Condition, A, B> const& a, WhereRow<C, Condition, A, B> const& b,
             Distance& distance) {
  measure(a.condition, b.condition, distance);
  measure(a.a, b.a, distance);
  measure(a.b, b.b, distance);
}

template <class B, class Row>
void link_lets(B& block, Row const& row, std::int64_t count);

/// The values of a let, or the block of an earlier read that has them.
template <class C, class A>
struct Block<OperationRow<Let, C, A>> {
  Buffer<C, A> a;
  Block const* source = nullptr;
  std::int64_t ahead = 0;  ///< of the source
  std::int64_t low = 0;    ///< where the first and the last read of these values begin
  std::int64_t high = 0;

  [[nodiscard]] BufferRow<C> compute(OperationRow<Let, C, A> const& row, std::int64_t first,
                                     std::int64_t count) {
    if (source != nullptr) return source->a.values(ahead - source->low);
    link_lets(a.a, row.a, count + high - low);
    a.write(row.a, first + low, count + high - low);
    return a.values(-low);
  }
  void unlink() {
    source = nullptr;
    ahead = low = high = 0;
  }
  /// Reads the values of another one, if that computes the same cells in rows of `count`. Cells
  /// between those that are read may not exist.
  void share(Block& other, A const& cells, A const& cells_of_other, std::int64_t count) {
    Distance distance;
    measure(cells_of_other, cells, distance);
    auto const from = std::min(other.low, distance.cells);
    auto const to = std::max(other.high, distance.cells);
    bool const has_gap = other.low - from > count || to - other.high > count;
    if (!distance.exists || to - from > let_reach || has_gap) return;
    other.low = from;
    other.high = to;
    source = &other;
    ahead = distance.cells;
  }
};

template <class Row>
[[nodiscard]] Block<Row>& block_of(Block<Row>& block) {
  return block;
}
template <class C, class A>
[[nodiscard]] Block<A>& block_of(Buffer<C, A>& buffer) {
  return buffer.a;
}

/// Calls visit(block, its cells) for the lets of a row that are not inside others, in the order in
/// which they are computed.
template <class B, class Row, class Visit>
void visit_lets(B& block, Row const& row, Visit const& visit) {
  if constexpr (let_depth<Row> != 0) {
    if constexpr (requires { block.source; }) {
      visit(block, row.a);
    } else if constexpr (requires { row.a; }) {
      if constexpr (requires { row.condition; }) visit_lets(block.condition, row.condition, visit);
      visit_lets(block_of(block.a), row.a, visit);
      if constexpr (requires { row.b; }) visit_lets(block_of(block.b), row.b, visit);
    } else if constexpr (requires { row.cells; }) {
      visit_lets(block.cells, row.cells, visit);
    } else {
      visit_lets(block.structs, row.structs, visit);
      visit_lets(block.values, row.values, visit);
    }
  }
}
/// Lets later reads of the same cells read the values of the first one. A let inside another one is
/// shared inside it alone, since its block may be longer.
template <class B, class Row>
void link_lets(B& block, Row const& row, std::int64_t count) {
  visit_lets(block, row, [&]<class L, class A>(L& let, A const& cells) {
    let.unlink();
    bool is_before = true;
    visit_lets(block, row, [&]<class M>(M& other, auto const& cells_of_other) {
      if constexpr (std::same_as<L, M>) {
        is_before = is_before && &other != &let;
        if (is_before && let.source == nullptr && other.source == nullptr)
          let.share(other, cells, cells_of_other, count);
      }
    });
  });
}

/// The blocks of a row, and of all rows that it moves to.
template <class Row>
class Blocks {
 public:
  /// Of rows of `count` cells.
  Blocks(Row const& row, std::int64_t count) { link_lets(block_, row, count); }

  /// Calls visit(cells, first, n) for parts of a row's cells [first, end), in order: cells(j) is
  /// cell first + j of the row, j < n.
  template <class Visit>
  void visit(Row const& row, std::int64_t first, std::int64_t end, Visit const& visit) {
    constexpr auto cells = block_cells - let_reach * let_depth<Row>;
    for (; first < end; first += cells) {
      auto const count = std::min(cells, end - first);
      visit(block_.compute(row, first, count), first, count);
    }
  }

 private:
  Block<Row> block_;
};
/// The same of one row. A row without functions is one part.
template <class Row, class Visit>
void visit_blocks(Row const& row, std::int64_t first, std::int64_t end, Visit const& visit) {
  if constexpr (has_functions<Row>)
    Blocks<Row>(row, end - first).visit(row, first, end, visit);
  else
    visit(Block<Row>().compute(row, first, end - first), first, end - first);
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

/// Rows that can write cells of type T into memory themselves, where these lie side by side.
template <class Row, class T>
concept WritesCells = requires(Row const& row, T* to) {
  row.write_to(to, std::int64_t{});
};

/// Writes rows of a box: the function behind a KernelFunction. The value is converted to T.
template <class Kernel, class T, bool unit>
void assign_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto row = static_cast<Kernel const*>(call.kernel)->template row<unit>(call);
  RowOfCells<T> target{reinterpret_cast<T*>(call.target), call.target_strides};
  auto const count = call.extents->back();
  auto const stride = call.target_strides->back();
  if constexpr (unit && WritesCells<decltype(row), T>) {
    auto const write = [&] { row.write_to(target.first, count); };
    visit_rows(*call.extents, first, last, write, row, target);
  } else if constexpr (has_functions<decltype(row)>) {
    Blocks<decltype(row)> blocks(row, count);
    auto const write = [&] {
      T* const to = target.first;
      blocks.visit(row, 0, count, [&](auto const& block, std::int64_t begin, std::int64_t n) {
        write_cells<unit>(to + begin * stride, stride, block, n);
      });
    };
    visit_rows(*call.extents, first, last, write, row, target);
  } else {
    auto const write = [&] {
      auto const cells = row;  // all of these stay in registers while the row is written
      write_cells<unit>(target.first, stride, cells, count);
    };
    visit_rows(*call.extents, first, last, write, row, target);
  }
}

}  // namespace tessera::detail
