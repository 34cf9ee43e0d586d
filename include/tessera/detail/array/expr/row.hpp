#pragma once
/// @file
/// An expression for one row of cells: raw pointers and an inner loop.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tessera/detail/array/expr/convert.hpp"
#include "tessera/detail/array/expr/operations.hpp"
#include "tessera/detail/base/function.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::detail {

// Rows: an expression restricted to one row of a box. row(j) is its value at the row's cell j;
// row.move(d, n) moves to the row n indices further along dimension d, which is never the last
// dimension.

/// The cells of an array in a row: the address of the first, and the distances to others.
template <class T, class Strides = Index>
struct RowOfCells {
  T* first;
  Strides const* strides = nullptr;  ///< in elements
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) { first += n * (*strides)[d]; }
};

/// A cell as it lies in memory. Bools are compared as bytes, which loops turn into vectors.
template <class T>
[[nodiscard]] TESSERA_FUNCTION T cell_at(T const* cell) {
  if constexpr (std::same_as<T, bool>)
    return *reinterpret_cast<unsigned char const*>(cell) != 0;
  else
    return *cell;
}

/// Cells that lie side by side.
template <class T, class Strides = Index>
struct UnitRow : RowOfCells<T const, Strides> {
  TESSERA_FUNCTION T operator()(std::int64_t j) const { return cell_at(this->first + j); }
};

/// Cells at any distance, 0 included.
template <class T, class Strides = Index>
struct StridedRow : RowOfCells<T const, Strides> {
  std::int64_t stride;
  TESSERA_FUNCTION T operator()(std::int64_t j) const { return cell_at(this->first + j * stride); }
};

/// The same value everywhere.
template <class T>
struct ConstantRow {
  T value;
  TESSERA_FUNCTION T operator()(std::int64_t) const { return value; }
  TESSERA_FUNCTION void move(std::size_t, std::int64_t) {}
};

/// The statement's index along one dimension.
struct IndexRow {
  std::int64_t start;
  std::size_t dimension;
  std::int64_t inner;  ///< all bits set if that is the rows' own dimension, else none
  TESSERA_FUNCTION std::int64_t operator()(std::int64_t j) const { return start + (j & inner); }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) {
    if (d == dimension) start += n;
  }
};

/// Converts for the operation, then applies it.
template <class Op, class C, class... Rows>
struct OperationRow;
template <class Op, class C, class A>
struct OperationRow<Op, C, A> {
  A a;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const { return Op::apply(convert<C>(a(j))); }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) { a.move(d, n); }
};
template <class Op, class C, class A, class B>
struct OperationRow<Op, C, A, B> {
  A a;
  B b;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    return Op::apply(convert<C>(a(j)), convert<C>(b(j)));
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) {
    a.move(d, n);
    b.move(d, n);
  }
};

/// The operand itself, which all of a row's reads of it compute once: row_blocks.hpp.
struct Let {
  template <class C>
  TESSERA_FUNCTION static C apply(C a) {
    return a;
  }
};

/// condition ? a : b, with both computed.
template <class C, class Condition, class A, class B>
struct WhereRow {
  Condition condition;
  A a;
  B b;
  TESSERA_FUNCTION C operator()(std::int64_t j) const {
    if constexpr (std::is_arithmetic_v<C> && !std::same_as<C, bool>)
      return condition(j) ? convert<C>(a(j)) : convert<C>(b(j));
    else
      return selected(condition(j), convert<C>(a(j)), convert<C>(b(j)));
  }
  TESSERA_FUNCTION void move(std::size_t d, std::int64_t n) {
    condition.move(d, n);
    a.move(d, n);
    b.move(d, n);
  }
};

// Kernels: expressions with slots for their arrays; trivially copyable, made once per statement.
// kernel.row<unit>(call) is the box's first row, where `call` is a KernelCall or what stands for it
// on a GPU.

/// Properties of a kernel's terminals, from its type alone: a call must provide for them.
struct KernelEnds {
  std::size_t operands = 0;      ///< upper bound of the operand slots
  std::size_t scalars = 0;       ///< upper bound of the scalar slots
  std::size_t scalar_bytes = 0;  ///< of the largest
  bool has_constants = false;    ///< operands may be constants in the kernel
  bool runs_on_gpu = true;       ///< every operation can

  friend constexpr KernelEnds operator+(KernelEnds const& a, KernelEnds const& b) {
    return {a.operands + b.operands, a.scalars + b.scalars,
            a.scalar_bytes < b.scalar_bytes ? b.scalar_bytes : a.scalar_bytes,
            a.has_constants || b.has_constants, a.runs_on_gpu && b.runs_on_gpu};
  }
};
/// The properties of an operation: only whether it runs on a GPU.
template <class Op, class C>
inline constexpr KernelEnds ends_of_operation{0, 0, 0, false, !runs_on_host_only<Op, C>};

template <class T>
struct OperandKernel {
  static constexpr KernelEnds ends{1};
  std::size_t slot;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    auto const& operand = call.operands[slot];
    using Strides = std::remove_cvref_t<decltype(*operand.strides)>;
    RowOfCells<T const, Strides> const cells{reinterpret_cast<T const*>(operand.first),
                                             operand.strides};
    if constexpr (unit)
      return UnitRow<T, Strides>{cells};
    else
      return StridedRow<T, Strides>{cells, operand.strides->back()};
  }
};

/// An operand with constants past its edges: two per dimension of the array.
template <class T, std::size_t R>
struct BoundaryOperandKernel {
  static constexpr KernelEnds ends{1, 0, 0, true};
  OperandKernel<T> operand;
  T constants[2 * R];
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    return operand.template row<unit>(call);
  }
};

template <class T>
struct LiteralKernel {
  static constexpr KernelEnds ends{};
  T value;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const&) const {
    return ConstantRow<T>{value};
  }
};

template <class T>
struct ScalarKernel {
  static constexpr KernelEnds ends{0, 1, sizeof(T)};
  std::size_t slot;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    return ConstantRow<T>{*reinterpret_cast<T const*>(call.scalars[slot])};
  }
};

struct IndexKernel {
  static constexpr KernelEnds ends{};
  std::size_t dimension;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    return IndexRow{(*call.first)[dimension], dimension,
                    dimension + 1 == call.extents->size() ? -1 : 0};
  }
};

template <class Op, class C, class... Kernels>
struct OperationKernel;
template <class Op, class C, class A>
struct OperationKernel<Op, C, A> {
  static constexpr KernelEnds ends = A::ends + ends_of_operation<Op, C>;
  A a;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    using RowA = decltype(a.template row<unit>(call));
    return OperationRow<Op, C, RowA>{a.template row<unit>(call)};
  }
};
template <class Op, class C, class A, class B>
struct OperationKernel<Op, C, A, B> {
  static constexpr KernelEnds ends = A::ends + B::ends + ends_of_operation<Op, C>;
  A a;
  B b;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    using RowA = decltype(a.template row<unit>(call));
    using RowB = decltype(b.template row<unit>(call));
    return OperationRow<Op, C, RowA, RowB>{a.template row<unit>(call), b.template row<unit>(call)};
  }
};

template <class C, class Condition, class A, class B>
struct WhereKernel {
  static constexpr KernelEnds ends = Condition::ends + A::ends + B::ends;
  Condition condition;
  A a;
  B b;
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    using RowC = decltype(condition.template row<unit>(call));
    using RowA = decltype(a.template row<unit>(call));
    using RowB = decltype(b.template row<unit>(call));
    return WhereRow<C, RowC, RowA, RowB>{condition.template row<unit>(call),
                                         a.template row<unit>(call), b.template row<unit>(call)};
  }
};

/// Calls visit(kernel) for each of a kernel's terminals: operands, literals, coordinates.
template <class Kernel, class Visit>
void visit_ends(Kernel const& kernel, Visit const& visit) {
  if constexpr (requires { kernel.terms; }) {
    visit_ends(kernel.terms, visit);
  } else if constexpr (requires { kernel.a; }) {
    if constexpr (requires { kernel.condition; }) visit_ends(kernel.condition, visit);
    visit_ends(kernel.a, visit);
    if constexpr (requires { kernel.b; }) visit_ends(kernel.b, visit);
  } else {
    visit(kernel);
  }
}

/// The type of an accumulator as it lies in memory and travels: its `packed()`, which it merges, if
/// it has one of fewer bytes.
template <class A>
struct PackedType {
  using type = A;
};
template <class A>
requires requires {
  typename A::Packed;
}
struct PackedType<A> {
  using type = typename A::Packed;
};
template <class A>
using PackedOf = typename PackedType<A>::type;

/// Merges an accumulator into that of its cell, or finishes a cell's value from the accumulator of
/// all its terms.
template <class Out, class A>
TESSERA_FUNCTION void put_result(Out& cell, A const& sum, double parameter) {
  if constexpr (std::is_same_v<Out, A>) {
    cell.merge(sum);
  } else if constexpr (std::is_same_v<Out, PackedOf<A>>) {
    auto whole = sum;
    whole.merge(cell);
    cell = whole.packed();
  } else {
    cell = sum.value(parameter);
  }
}

/// A row from its cell `first` on.
template <class Row>
struct FromFirst {
  Row row;
  std::int64_t first;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const { return row(first + j); }
};
template <class Row>
[[nodiscard]] FromFirst<Row> row_from(Row const& row, std::int64_t first) {
  return {row, first};
}
// Most rows are made anew part by part: a copy of a whole one would wait for its parts, which have
// just been moved to this row.
template <class T, class S>
[[nodiscard]] UnitRow<T, S> row_from(UnitRow<T, S> const& row, std::int64_t first) {
  return {{row.first + first, row.strides}};
}
template <class T, class S>
[[nodiscard]] StridedRow<T, S> row_from(StridedRow<T, S> const& row, std::int64_t first) {
  return {{row.first + first * row.stride, row.strides}, row.stride};
}
template <class T>
[[nodiscard]] ConstantRow<T> row_from(ConstantRow<T> const& row, std::int64_t) {
  return row;
}
template <class Op, class C, class A>
[[nodiscard]] auto row_from(OperationRow<Op, C, A> const& row, std::int64_t first) {
  return OperationRow<Op, C, decltype(row_from(row.a, first))>{row_from(row.a, first)};
}
template <class Op, class C, class A, class B>
[[nodiscard]] auto row_from(OperationRow<Op, C, A, B> const& row, std::int64_t first) {
  using RowA = decltype(row_from(row.a, first));
  using RowB = decltype(row_from(row.b, first));
  return OperationRow<Op, C, RowA, RowB>{row_from(row.a, first), row_from(row.b, first)};
}

}  // namespace tessera::detail
