#include "tessera/detail/array/gpu/gpu_work.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/array/evaluate/axis_reduction.hpp"
#include "tessera/detail/ops/accumulators.hpp"
#include "tessera/ops/partial.hpp"

#include "src/statement/statement.hpp"

#include "support/gpu_threads.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

// What threads of a GPU do, done on the host, beside what the host does.

TEST_SUITE_BEGIN("ops/gpu_work");

namespace {

std::size_t span_of(Index const& extents, Index const& strides) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) last += (extents[d] - 1) * strides[d];
  return static_cast<std::size_t>(last + 1);
}

/// 0.5 * cell + neighbour past an edge, times the index along dimension 0, plus a scalar.
using Cell = OperandKernel<double>;
using Edge = BoundaryOperandKernel<double, 2>;
using Half = OperationKernel<Multiply, double, LiteralKernel<double>, Cell>;
using Sum = OperationKernel<Add, double, Half, Edge>;
using Scaled = OperationKernel<Multiply, double, Sum, IndexKernel>;
using Stencil = OperationKernel<Add, double, Scaled, ScalarKernel<double>>;

/// A call with two leaves.
template <std::size_t N>
struct RandomCall {
  RandomCall(std::mt19937& random, bool unit) : box(random) {
    strides = box.random_strides(random, unit);
    cells.resize(span_of(box.extents, strides));
    for (auto& cell : cells) cell = std::normal_distribution<double>()(random);
    kernel.a.a.a.a.value = 0.5;
    kernel.a.a.a.b.slot = 0;
    kernel.a.a.b.operand.slot = 1;
    for (auto& constant : kernel.a.a.b.constants) constant = 7;
    kernel.a.a.b.constants[1] = 0.25;
    kernel.a.b.dimension = static_cast<std::size_t>(random_from(random, 0, N - 1));
    kernel.b.slot = 0;
    operands[0] = {reinterpret_cast<std::byte const*>(cells.data()), &strides};
    operands[1] = operands[0];
    if (!unit) become_constant(kernel);
    call.box.first = &box.first;
    call.box.extents = &box.extents;
    call.box.operands = operands;
    call.box.scalars = scalars;
    call.kernel_bytes = sizeof(Stencil);
    call.operand_count = 2;
    call.scalar_count = 1;
    call.unit_stride = unit;
  }
  /// The second leaf is a constant past an edge, which has no strides. Rows with side-by-side cells
  /// have none.
  void become_constant(Stencil const& of) {
    operands[1] = {reinterpret_cast<std::byte const*>(&of.a.a.b.constants[1]), &no_strides};
  }

  RandomCall(RandomCall const&) = delete;
  RandomCall& operator=(RandomCall const&) = delete;

  RandomBox<N> box;
  Index strides;
  Index no_strides = Index(N, 0);
  std::vector<double> cells;
  double scalar = 3.5;
  Stencil kernel{};
  OperandView operands[2];
  std::byte const* scalars[1] = {reinterpret_cast<std::byte const*>(&scalar)};
  GpuCall call;
};

template <std::size_t N, bool unit>
void assigns_as_the_host_does(std::mt19937& random) {
  RandomCall<N> random_call(random, unit);
  auto& call = random_call.call;
  auto const to_strides = random_call.box.random_strides(random, unit);
  call.box.kernel = &random_call.kernel;
  call.box.target_strides = &to_strides;
  std::vector<double> expected(span_of(random_call.box.extents, to_strides), -1.0);
  auto target = expected;
  call.box.target = reinterpret_cast<std::byte*>(expected.data());
  assign_rows<Stencil, double, unit>(&call.box, 0, random_call.box.rows());

  call.box.target = reinterpret_cast<std::byte*>(target.data());
  auto const box = box_by_value<Stencil, N>(call);
  REQUIRE(box);
  GpuAssignment<Stencil, double, N, unit> const work{*box, random_shape(random)};
  random_call.kernel = Stencil{};  // the work has its own
  for_each_thread(work.shape, work);

  CHECK(target == expected);
}

template <class A, std::size_t N, bool unit>
void gathers_as_the_host_does(std::mt19937& random) {
  RandomCall<N> random_call(random, unit);
  auto& call = random_call.call;
  call.box.kernel = &random_call.kernel;
  A expected;
  call.box.accumulator = &expected;
  reduce_rows<Stencil, A, unit>(&call.box, 0, random_call.box.rows());

  auto const box = box_by_value<Stencil, N>(call);
  REQUIRE(box);
  GpuReduction<Stencil, A, N, unit> const work{*box, random_shape(random), nullptr, 0};
  A sum;
  for_each_thread(work.shape, [&](GpuThread const& thread) { sum.merge(work(thread)); });

  CHECK(sum.value(2.0) == expected.value(2.0));
}

/// All blocks one after the other, the threads of each step by step.
template <class Work>
void fold_all(Work const& work) {
  using A = typename Work::Accumulator;
  auto const& split = work.split;
  for (std::int64_t group = 0; group < work.groups(); ++group) {
    std::vector<A> sums(split.threads());
    for (unsigned thread = 0; thread < split.threads(); ++thread)
      if (auto const cell = work.cell_of(group, thread); cell < work.extents.cells)
        sums[thread] = work.gather(cell, thread);
    for (unsigned step = 0; step < split.steps(); ++step) {
      auto const before = sums;  // nobody takes what is added to in the same step
      for (unsigned thread = 0; thread < split.threads(); ++thread)
        if (auto const partner = split.partner(step, thread); partner != thread)
          sums[thread].merge(before[partner]);
    }
    for (unsigned thread = 0; thread < split.threads(); ++thread) {
      auto const cell = work.cell_of(group, thread);
      bool const is_first = split.along_of(thread) == 0 && split.row_of(thread) == 0;
      if (is_first && cell < work.extents.cells) work.put(cell, sums[thread]);
    }
  }
}

template <class A, std::size_t N, bool unit>
void folds_as_the_host_does(std::mt19937& random) {
  using Kernel = FoldKernel<Stencil>;
  RandomCall<N> random_call(random, unit);
  auto& call = random_call.call;
  Kernel const kernel{random_call.kernel, 2.0};
  if (!unit) random_call.become_constant(kernel.terms);
  call.box.kernel = &kernel;
  call.kernel_bytes = sizeof(Kernel);
  Index to_strides(N, 0);
  std::int64_t stride = random_from(random, 1, 2);
  for (std::size_t d = N; d-- > 0;) {
    if (random_from(random, 0, 1) == 0) continue;
    to_strides[d] = stride;
    stride *= random_call.box.extents[d];
  }
  call.box.target_strides = &to_strides;
  std::vector<double> expected(static_cast<std::size_t>(stride), -1.0);
  auto target = expected;
  call.box.target = reinterpret_cast<std::byte*>(expected.data());
  fold_box<Stencil, A, double, unit>(&call.box, 0, 0);

  call.box.target = reinterpret_cast<std::byte*>(target.data());
  auto const box = box_by_value<Kernel, N>(call);
  REQUIRE(box);
  using Work = GpuFold<Kernel, A, double, N, unit>;
  // However many threads share a cell; a row has more than one of them only where it has terms.
  auto const extents = fold_extents(*box);
  FoldSplit split;
  if (to_strides.back() == 0) split.along_bits = static_cast<unsigned>(random_from(random, 0, 3));
  split.cells_bits = static_cast<unsigned>(random_from(random, 0, 3));
  split.rows_bits = static_cast<unsigned>(random_from(random, 0, 3));
  if (detail::AddsInOrder<A>) split = split_in_order(8);
  fold_all(Work{*box, extents, split});

  CHECK(target == expected);
}

}  // namespace

TEST_CASE("threads assign what the host assigns") {
  std::mt19937 random(test::seed_of_all(2));
  for (int round = 0; round < 60; ++round) {
    assigns_as_the_host_does<1, true>(random);
    assigns_as_the_host_does<1, false>(random);
    assigns_as_the_host_does<2, true>(random);
    assigns_as_the_host_does<2, false>(random);
    assigns_as_the_host_does<3, true>(random);
    assigns_as_the_host_does<4, false>(random);
  }
}

TEST_CASE("threads gather what the host gathers") {
  std::mt19937 random(test::seed_of_all(3));
  for (int round = 0; round < 60; ++round) {
    gathers_as_the_host_does<FloatingSum<double>, 1, true>(random);
    gathers_as_the_host_does<FloatingSum<double, Root>, 2, false>(random);
    gathers_as_the_host_does<Extreme<double, Minimum>, 3, true>(random);
    gathers_as_the_host_does<CountTrue, 4, false>(random);
  }
}

TEST_CASE("threads fold what the host folds") {
  std::mt19937 random(test::seed_of_all(4));
  for (int round = 0; round < 100; ++round) {
    folds_as_the_host_does<FloatingSum<double, Divided>, 1, true>(random);
    folds_as_the_host_does<FloatingSum<double>, 2, true>(random);
    folds_as_the_host_does<Extreme<double, Maximum>, 2, false>(random);
    folds_as_the_host_does<FloatingSum<double>, 3, false>(random);
    folds_as_the_host_does<FloatingSum<double>, 4, true>(random);
    folds_as_the_host_does<SumInOrder<double>, 1, true>(random);
    folds_as_the_host_does<SumInOrder<double>, 3, false>(random);
  }
}

TEST_CASE("a box that does not fit its kernel's type is refused") {
  std::mt19937 random(test::seed_of_all(5));
  RandomCall<2> random_call(random, true);
  random_call.call.box.kernel = &random_call.kernel;

  CHECK(box_by_value<Stencil, 2>(random_call.call));
  CHECK_FALSE(box_by_value<Stencil, 3>(random_call.call));
  random_call.call.operand_count = 3;
  CHECK_FALSE(box_by_value<Stencil, 2>(random_call.call));
}

TEST_SUITE_END();
