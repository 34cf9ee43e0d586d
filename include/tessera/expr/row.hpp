#pragma once
/// @file
/// What an expression becomes for one row of cells: raw pointers and an inner loop.

#include <cstddef>
#include <cstdint>

#include "tessera/base/function.hpp"
#include "tessera/exchange/kernel.hpp"
#include "tessera/expr/convert.hpp"

namespace tessera::detail {

/// Which row of a box is computed.
class RowPlace {
 public:
  TESSERA_FUNCTION RowPlace(KernelCall const& call, std::int64_t row) : call_(call) {
    for (std::size_t d = call.extents->size() - 1; d-- > 0;) {
      at_[d] = row % (*call.extents)[d];
      row /= (*call.extents)[d];
    }
  }

  TESSERA_FUNCTION void next() {
    for (std::size_t d = call_.extents->size() - 1; d-- > 0;) {
      if (++at_[d] < (*call_.extents)[d]) return;
      at_[d] = 0;
    }
  }

  /// Moves along one dimension, but the last.
  TESSERA_FUNCTION void move_to(std::size_t d, std::int64_t at) { at_[d] = at; }

  [[nodiscard]] TESSERA_FUNCTION KernelCall const& call() const { return call_; }
  /// Elements from the box's first cell to the row's, for an array with these strides.
  [[nodiscard]] TESSERA_FUNCTION std::int64_t offset(Index const& strides) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d + 1 < strides.size(); ++d) offset += at_[d] * strides[d];
    return offset;
  }
  /// The statement's index along dimension d at the start of the row.
  [[nodiscard]] TESSERA_FUNCTION std::int64_t index(std::size_t d) const {
    return (*call_.first)[d] + (d + 1 < call_.extents->size() ? at_[d] : 0);
  }
  [[nodiscard]] TESSERA_FUNCTION bool is_inner(std::size_t d) const {
    return d + 1 == call_.extents->size();
  }

 private:
  KernelCall const& call_;
  std::int64_t at_[max_rank] = {};
};

/// Cells that lie side by side.
template <class T>
struct UnitRow {
  T const* first;
  TESSERA_FUNCTION T operator()(std::int64_t j) const { return first[j]; }
};

/// Cells at any distance, 0 included.
template <class T>
struct StridedRow {
  T const* first;
  std::int64_t stride;
  TESSERA_FUNCTION T operator()(std::int64_t j) const { return first[j * stride]; }
};

/// The same value everywhere.
template <class T>
struct ConstantRow {
  T value;
  TESSERA_FUNCTION T operator()(std::int64_t) const { return value; }
};

/// start + step · j.
struct IndexRow {
  std::int64_t start;
  std::int64_t step;
  TESSERA_FUNCTION std::int64_t operator()(std::int64_t j) const { return start + step * j; }
};

/// Converts for the operation, then applies it.
template <class Op, class C, class... Rows>
struct OperationRow;
template <class Op, class C, class A>
struct OperationRow<Op, C, A> {
  A a;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const { return Op::apply(convert<C>(a(j))); }
};
template <class Op, class C, class A, class B>
struct OperationRow<Op, C, A, B> {
  A a;
  B b;
  TESSERA_FUNCTION auto operator()(std::int64_t j) const {
    return Op::apply(convert<C>(a(j)), convert<C>(b(j)));
  }
};

/// condition ? a : b, with both computed.
template <class C, class Condition, class A, class B>
struct WhereRow {
  Condition condition;
  A a;
  B b;
  TESSERA_FUNCTION C operator()(std::int64_t j) const {
    return condition(j) ? convert<C>(a(j)) : convert<C>(b(j));
  }
};

// Kernels: expressions with slots for their arrays; trivially copyable, made once per statement.

template <class T>
struct LeafKernel {
  std::size_t slot;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    auto const& leaf = place.call().leaves[slot];
    auto const* first = reinterpret_cast<T const*>(leaf.first) + place.offset(*leaf.strides);
    if constexpr (unit)
      return UnitRow<T>{first};
    else
      return StridedRow<T>{first, leaf.strides->back()};
  }
};

/// A leaf with constants past its edges: two per dimension of the array.
template <class T, std::size_t R>
struct BoundaryLeafKernel {
  LeafKernel<T> leaf;
  T constants[2 * R];
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    return leaf.template row<unit>(place);
  }
};

template <class T>
struct LiteralKernel {
  T value;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const&) const {
    return ConstantRow<T>{value};
  }
};

template <class T>
struct ScalarKernel {
  std::size_t slot;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    return ConstantRow<T>{*reinterpret_cast<T const*>(place.call().scalars[slot])};
  }
};

struct IndexKernel {
  std::size_t dimension;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    return IndexRow{place.index(dimension), place.is_inner(dimension) ? 1 : 0};
  }
};

template <class Op, class C, class... Kernels>
struct OperationKernel;
template <class Op, class C, class A>
struct OperationKernel<Op, C, A> {
  A a;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    using RowA = decltype(a.template row<unit>(place));
    return OperationRow<Op, C, RowA>{a.template row<unit>(place)};
  }
};
template <class Op, class C, class A, class B>
struct OperationKernel<Op, C, A, B> {
  A a;
  B b;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    using RowA = decltype(a.template row<unit>(place));
    using RowB = decltype(b.template row<unit>(place));
    return OperationRow<Op, C, RowA, RowB>{a.template row<unit>(place),
                                           b.template row<unit>(place)};
  }
};

template <class C, class Condition, class A, class B>
struct WhereKernel {
  Condition condition;
  A a;
  B b;
  template <bool unit>
  [[nodiscard]] TESSERA_FUNCTION auto row(RowPlace const& place) const {
    using RowC = decltype(condition.template row<unit>(place));
    using RowA = decltype(a.template row<unit>(place));
    using RowB = decltype(b.template row<unit>(place));
    return WhereRow<C, RowC, RowA, RowB>{condition.template row<unit>(place),
                                         a.template row<unit>(place), b.template row<unit>(place)};
  }
};

/// Writes rows of a box: the function behind a KernelFunction. The value is converted to T.
template <class Kernel, class T, bool unit>
void assign_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const& kernel = *static_cast<Kernel const*>(call.kernel);
  auto const count = call.extents->back();
  auto const stride = call.target_strides->back();
  RowPlace place(call, first);
  for (std::int64_t i = first; i < last; ++i, place.next()) {
    auto const row = kernel.template row<unit>(place);
    T* const target = reinterpret_cast<T*>(call.target) + place.offset(*call.target_strides);
    if constexpr (unit) {
#pragma GCC ivdep
      for (std::int64_t j = 0; j < count; ++j) target[j] = convert<T>(row(j));
    } else {
#pragma GCC ivdep
      for (std::int64_t j = 0; j < count; ++j) target[j * stride] = convert<T>(row(j));
    }
  }
}

}  // namespace tessera::detail
