#pragma once
/// @file
/// The work of GPU threads on a box of a statement: each functor is the complete argument of a
/// launch. Plain C++, so that a test can run all threads of a launch on the host.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "tessera/detail/array/expr/row.hpp"
#include "tessera/detail/array/gpu/gpu_mapping.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera::detail {

/// A OperandView by value. A constant past an edge lies in the kernel, so it moves with the
/// kernel's copies.
template <std::size_t N>
struct GpuOperand {
  std::byte const* first = nullptr;
  std::int64_t offset_in_kernel = -1;  ///< in bytes; none if negative
  GpuIndex<N> strides;
};

/// A KernelCall by value, with its kernel: trivially copyable, without pointers to the host.
template <class Kernel, std::size_t N>
struct GpuBox {
  static constexpr KernelEnds ends = Kernel::ends;
  static constexpr std::size_t scalar_alignment = 16;

  Kernel kernel;
  GpuIndex<N> first{};
  GpuIndex<N> extents{};
  GpuIndex<N> target_strides{};
  std::byte* target = nullptr;
  std::int64_t step = 0;
  GpuOperand<N> operands[std::max<std::size_t>(ends.operands, 1)] = {};
  struct alignas(scalar_alignment) Scalar {
    std::byte bytes[std::max<std::size_t>(ends.scalar_bytes, 1)] = {};
  };
  Scalar scalars[std::max<std::size_t>(ends.scalars, 1)] = {};

  [[nodiscard]] TESSERA_FUNCTION std::int64_t rows() const {
    std::int64_t count = 1;
    for (std::size_t d = 0; d + 1 < N; ++d) count *= extents[d];
    return count;
  }
};

/// As OperandView, of an operand by value.
template <std::size_t N>
struct GpuOperandView {
  std::byte const* first;
  GpuIndex<N> const* strides;
};

/// A box as GPU kernels see it; on the host they receive a KernelCall instead.
template <class Kernel, std::size_t N>
class GpuView {
  using Box = GpuBox<Kernel, N>;
  struct Operands {
    Box const* box;
    [[nodiscard]] TESSERA_FUNCTION GpuOperandView<N> operator[](std::size_t slot) const {
      auto const& operand = box->operands[slot];
      if constexpr (Box::ends.has_constants) {
        if (operand.offset_in_kernel >= 0)
          return {reinterpret_cast<std::byte const*>(&box->kernel) + operand.offset_in_kernel,
                  &operand.strides};
      }
      return {operand.first, &operand.strides};
    }
  };
  struct Scalars {
    Box const* box;
    [[nodiscard]] TESSERA_FUNCTION std::byte const* operator[](std::size_t slot) const {
      return box->scalars[slot].bytes;
    }
  };

 public:
  TESSERA_FUNCTION explicit GpuView(Box const& box)
      : first(&box.first), extents(&box.extents), operands{&box}, scalars{&box}, step(box.step) {}

  GpuIndex<N> const* first;
  GpuIndex<N> const* extents;
  Operands operands;
  Scalars scalars;
  std::int64_t step;
};

/// Copies the scalars that a kernel reads.
template <class Box>
struct CopyScalars {
  std::byte const* const* from;
  Box& to;

  template <class Kernel>
  void operator()(Kernel const&) const {}
  template <class T>
  void operator()(ScalarKernel<T> const& kernel) const {
    std::memcpy(to.scalars[kernel.slot].bytes, from[kernel.slot], sizeof(T));
  }
};

/// The box of a call by value; nothing if the call does not fit the type of its kernel.
template <class Kernel, std::size_t N>
[[nodiscard]] std::optional<GpuBox<Kernel, N>> box_by_value(GpuCall const& call) {
  using Box = GpuBox<Kernel, N>;
  static_assert(std::is_trivially_copyable_v<Box>);
  auto const& given = call.box;
  if (given.extents->size() != N || call.kernel_bytes != std::int64_t{sizeof(Kernel)} ||
      call.operand_count > Box::ends.operands || call.scalar_count > Box::ends.scalars)
    return std::nullopt;
  auto const& kernel = *static_cast<Kernel const*>(given.kernel);
  Box box{kernel};
  auto const copy = [](GpuIndex<N>& to, Index const& from) {
    std::copy_n(from.begin(), N, to.numbers);
  };
  copy(box.first, *given.first);
  copy(box.extents, *given.extents);
  if (given.target != nullptr) copy(box.target_strides, *given.target_strides);
  box.target = given.target;
  box.step = given.step;
  auto const* const begin = reinterpret_cast<std::byte const*>(&kernel);
  for (std::size_t l = 0; l < call.operand_count; ++l) {
    auto const* const address = given.operands[l].first;
    box.operands[l].first = address;
    if (address >= begin && address < begin + sizeof(Kernel))
      box.operands[l].offset_in_kernel = address - begin;
    copy(box.operands[l].strides, *given.operands[l].strides);
  }
  visit_ends(kernel, CopyScalars<Box>{given.scalars, box});
  return box;
}

/// Assigns the cells of a box: as assign_rows.
template <class Kernel, class T, std::size_t N, bool unit>
struct GpuAssignment {
  GpuBox<Kernel, N> box;
  GpuShape shape;

  TESSERA_FUNCTION void operator()(GpuThread const& thread) const {
    GpuView<Kernel, N> const call(box);
    auto row = box.kernel.template row<unit>(call);
    RowOfCells<T, GpuIndex<N>> target{reinterpret_cast<T*>(box.target), &box.target_strides};
    GpuRowCursor<N> cursor;
    visit_rows_of(shape, thread, box.rows(), [&](std::int64_t number) {
      cursor.move_to(number, box.extents, row, target);
      visit_runs_of(shape, thread, box.extents.back(),
                    [&](std::int64_t j) { write(row, target.first, j); });
    });
  }

 private:
  template <class Row>
  TESSERA_FUNCTION void write(Row const& row, T* to, std::int64_t j) const {
    std::int64_t const step = shape.threads_x;
    std::int64_t const stride = unit ? 1 : box.target_strides.back();
    if (j + (cells_in_flight - 1) * step < box.extents.back()) {
      T cells[cells_in_flight];  // all are loaded before the first is stored
      for (std::int64_t k = 0; k < cells_in_flight; ++k) cells[k] = convert<T>(row(j + k * step));
      for (std::int64_t k = 0; k < cells_in_flight; ++k) to[(j + k * step) * stride] = cells[k];
      return;
    }
    for (; j < box.extents.back(); j += step) to[j * stride] = convert<T>(row(j));
  }
};

/// Threads of a block whose accumulators are combined in its shared memory.
template <class A>
inline constexpr unsigned threads_with = sizeof(A) <= 64    ? 256
                                         : sizeof(A) <= 256 ? 128
                                                            : 32;

/// Adds terms that have all been loaded.
template <class Term, class A>
TESSERA_FUNCTION void add_terms_to(A& sum, Term const (&terms)[cells_in_flight]) {
  if constexpr (requires { sum.add_terms(terms); }) {
    sum.add_terms(terms);
  } else {
    for (auto const& term : terms) sum.add_term(term);
  }
}

/// Adds the terms j, j + step … before `end`, `cells_in_flight` of them or as many as there are.
template <class Row, class A>
TESSERA_FUNCTION void gather_run(Row const& row, std::int64_t j, std::int64_t step,
                                 std::int64_t end, A& sum) {
  if (j + (cells_in_flight - 1) * step < end) {
    std::remove_cvref_t<decltype(row(j))> terms[cells_in_flight];
    for (std::int64_t k = 0; k < cells_in_flight; ++k) terms[k] = row(j + k * step);
    add_terms_to(sum, terms);
    return;
  }
  for (; j < end; j += step) sum.add_term(row(j));
}

/// Gathers the terms of a box: as reduce_rows.
template <class Kernel, class A, std::size_t N, bool unit>
struct GpuReduction {
  using Accumulator = A;
  GpuBox<Kernel, N> box;
  GpuShape shape;
  A* parts = nullptr;
  std::int64_t part_count = 0;

  static constexpr unsigned threads = threads_with<A>;

  /// The accumulator of one thread's terms.
  [[nodiscard]] TESSERA_FUNCTION A operator()(GpuThread const& thread) const {
    GpuView<Kernel, N> const call(box);
    auto row = box.kernel.template row<unit>(call);
    GpuRowCursor<N> cursor;
    A sum;
    visit_rows_of(shape, thread, box.rows(), [&](std::int64_t number) {
      cursor.move_to(number, box.extents, row);
      visit_runs_of(shape, thread, box.extents.back(), [&](std::int64_t j) {
        gather_run(row, j, shape.threads_x, box.extents.back(), sum);
      });
    });
    return sum;
  }
};

/// Reduces a box along the dimensions that do not move the target: as fold_box. The threads of a
/// block have a few target cells at a time, and share the terms of each.
template <class Kernel, class A, class Out, std::size_t N, bool unit>
struct GpuFold {
  using Accumulator = A;
  GpuBox<Kernel, N> box;
  FoldExtents extents;
  FoldSplit split;

  static constexpr unsigned threads = threads_with<A>;

  /// The number of groups of cells; the threads of a block process one group at a time.
  [[nodiscard]] TESSERA_FUNCTION std::int64_t groups() const {
    return (extents.cells + split.cells() - 1) >> split.cells_bits;
  }
  /// The cell that a thread works for; none if it is beyond the last.
  [[nodiscard]] TESSERA_FUNCTION std::int64_t cell_of(std::int64_t group, unsigned thread) const {
    return (group << split.cells_bits) + split.cell_of(thread);
  }

  /// The accumulator of a thread's terms of one cell.
  [[nodiscard]] TESSERA_FUNCTION A gather(std::int64_t cell, unsigned thread) const {
    GpuView<Kernel, N> const call(box);
    auto row = box.kernel.terms.template row<unit>(call);
    bool const is_row_terms = !moves_target(N - 1);
    std::int64_t first = 0;
    visit_cell(cell, [&](std::size_t d, std::int64_t at) {
      if (d + 1 < N)
        row.move(d, at);
      else
        first = at;
    });
    A sum;
    std::int64_t at[N] = {};
    auto const over = std::int64_t{split.rows()};
    auto const step = std::int64_t{split.along()};
    auto r = std::int64_t{split.row_of(thread)};
    if (is_row_terms) {
      for (; r < extents.rows; r += over) {
        move_to_terms(r, at, row);
        auto const end = box.extents.back();
        for (auto j = std::int64_t{split.along_of(thread)}; j < end; j += step * cells_in_flight)
          gather_run(row, j, step, end, sum);
      }
      return sum;
    }
    auto const term = [&](std::int64_t number) {
      move_to_terms(number, at, row);
      return row(first);
    };
    for (; r + (cells_in_flight - 1) * over < extents.rows; r += over * cells_in_flight) {
      decltype(term(r)) terms[cells_in_flight];
      for (std::int64_t k = 0; k < cells_in_flight; ++k) terms[k] = term(r + k * over);
      add_terms_to(sum, terms);
    }
    for (; r < extents.rows; r += over) sum.add_term(term(r));
    return sum;
  }

  /// Writes a cell's value from the combined accumulators of its threads.
  TESSERA_FUNCTION void put(std::int64_t cell, A const& sum) const {
    auto* to = reinterpret_cast<Out*>(box.target);
    visit_cell(cell, [&](std::size_t d, std::int64_t at) { to += at * box.target_strides[d]; });
    put_result(*to, sum, box.kernel.parameter);
  }

 private:
  [[nodiscard]] TESSERA_FUNCTION bool moves_target(std::size_t d) const {
    return box.target_strides[d] != 0;
  }

  /// Calls visit(d, the cell's index along d) for the dimensions that move the target.
  template <class Visit>
  TESSERA_FUNCTION void visit_cell(std::int64_t cell, Visit const& visit) const {
    for (std::size_t d = N; d-- > 0;) {
      if (!moves_target(d)) continue;
      auto const rest = quotient(cell, box.extents[d]);
      visit(d, cell - rest * box.extents[d]);
      cell = rest;
    }
  }

  /// From the row of terms at `at` to row `r` of the same cell.
  template <class Row>
  TESSERA_FUNCTION void move_to_terms(std::int64_t r, std::int64_t (&at)[N], Row& row) const {
    for (std::size_t d = N - 1; d-- > 0;) {
      if (moves_target(d)) continue;
      auto const rest = r < box.extents[d] ? 0 : quotient(r, box.extents[d]);
      auto const next = r - rest * box.extents[d];
      row.move(d, next - at[d]);
      at[d] = next;
      r = rest;
    }
  }
};

template <class Box>
[[nodiscard]] FoldExtents fold_extents(Box const& box) {
  FoldExtents found{1, 1, 1};
  auto const last = box.extents.size() - 1;
  for (std::size_t d = 0; d <= last; ++d) {
    bool const is_of_terms = box.target_strides[d] == 0;
    auto& count = !is_of_terms ? found.cells : d == last ? found.row_terms : found.rows;
    count *= box.extents[d];
  }
  return found;
}

}  // namespace tessera::detail
