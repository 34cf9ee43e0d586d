#include "tessera/detail/array/expr/row.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/statement/statement.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("expr/row");

namespace {

struct Offset {
  Index const& strides;
  std::int64_t value = 0;
  void move(std::size_t d, std::int64_t n) { value += n * strides[d]; }
};

std::vector<std::int64_t> offsets_of_rows(Index const& extents, Index const& strides,
                                          std::int64_t first, std::int64_t last) {
  std::vector<std::int64_t> result;
  Offset at{strides}, again{strides};
  visit_rows(
      extents, first, last,
      [&] {
        CHECK(at.value == again.value);
        result.push_back(at.value);
      },
      at, again);
  return result;
}

// 0.5 * u[j - 1] - u[j + 1] / 3
using Leaf = detail::OperandKernel<double>;
using Number = detail::LiteralKernel<double>;
using Half = detail::OperationKernel<detail::Multiply, double, Number, Leaf>;
using Third = detail::OperationKernel<detail::Divide, double, Leaf, Number>;
using Formula = detail::OperationKernel<detail::Subtract, double, Half, Third>;

struct Box2d {
  Index first{0, 0};
  Index extents;
  Index strides;
};

std::vector<double> written_by(KernelFunction form, std::vector<double> const& u, Box2d const& box,
                               std::size_t at) {
  Formula const kernel{Half{Number{0.5}, Leaf{0}}, Third{Leaf{1}, Number{3}}};
  // Wherever the vector's memory begins, some call's row begins a line of the caches.
  std::vector<double> v(u.size(), -1);
  auto const bytes_of = [&](std::size_t i) { return reinterpret_cast<std::byte const*>(&u[i]); };
  std::array const operands{OperandView{bytes_of(at - 1), &box.strides},
                            OperandView{bytes_of(at + 1), &box.strides}};
  KernelCall call;
  call.kernel = &kernel;
  call.first = &box.first;
  call.extents = &box.extents;
  call.target = reinterpret_cast<std::byte*>(&v[at]);
  call.target_strides = &box.strides;
  call.operands = operands.data();
  form(&call, 0, box.extents[0]);
  return v;
}

}  // namespace

TEST_CASE("rows of a box are visited in order, from any row to any other") {
  for (Index const& extents :
       {Index{7}, Index{3, 5}, Index{1, 4}, Index{2, 3, 4}, Index{3, 1, 2, 6}}) {
    Index strides;
    for (std::size_t d = 0; d < extents.size(); ++d)
      strides.push_back(d == 1 ? -13 : 100 - 7 * static_cast<std::int64_t>(d));
    auto const rows = cells_of(extents) / extents.back();
    auto const all = offsets_of_rows(extents, strides, 0, rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t offset = 0;
      auto rest = row;
      for (std::size_t d = extents.size() - 1; d-- > 0; rest /= extents[d])
        offset += rest % extents[d] * strides[d];
      CHECK(all[static_cast<std::size_t>(row)] == offset);
    }
    for (std::int64_t first = 0; first <= rows; ++first)
      for (auto last = first; last <= rows; ++last)
        CHECK(offsets_of_rows(extents, strides, first, last) ==
              std::vector<std::int64_t>(all.begin() + first, all.begin() + last));
  }
}

TEST_CASE("rows written past the caches are those written through them") {
  auto const form = detail::non_temporal_form<Formula, double>();
  if (form == nullptr) {
    MESSAGE("compiled for processors without vectors of 32 bytes: there is no such form");
    return;
  }
  std::vector<double> u(400);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1.0 / static_cast<double>(i + 1);
  for (std::size_t at = 1; at <= 9; ++at)
    for (std::int64_t count = 0; count <= 40; ++count) {
      Box2d const box{{0, 0}, {4, count}, {83, 1}};
      CHECK(written_by(form, u, box, at) ==
            written_by(&detail::assign_rows<Formula, double, true>, u, box, at));
    }
}

TEST_CASE("kernels that call functions or convert have no form past the caches") {
  using Rounded =
      detail::OperationKernel<detail::CastTo<double>, float, detail::OperandKernel<float>>;
  auto const has_form = [](KernelFunction form) { return form != nullptr; };
  CHECK_FALSE(has_form(detail::non_temporal_form<Rounded, double>()));
  CHECK_FALSE(has_form(detail::non_temporal_form<Leaf, float>()));
  CHECK_FALSE(
      has_form(detail::non_temporal_form<detail::OperandKernel<std::int32_t>, std::int32_t>()));
}

TEST_SUITE_END();
