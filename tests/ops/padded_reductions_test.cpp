#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"

#include "support/arrays.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::Edges;
using test::holds;
using test::over;
using test::sent_by;

/// Reductions of arrays with cells past their edges, which no device owns.
TEST_SUITE_BEGIN("ops/padded_reductions");

namespace {

using Doubles = std::vector<double>;
using Integers = std::vector<std::int64_t>;

template <class E>
void check_reductions(E const& e, test::Mirror<double> const& m) {
  auto const squares = test::combined<double>(
      m.shape, [](double x) { return x * x; }, m);
  CHECK_ALL(sum(e).value() == test::sum_of(m.cells));
  CHECK_ALL(mean(e).value() == test::mean_of(m.cells));
  CHECK_ALL(var(e).value() == test::var_of(m.cells));
  CHECK_ALL(dot(e, e).value() == test::sum_of(squares.cells));
  CHECK_ALL(norm(e).value() == std::sqrt(test::sum_of(squares.cells)));
  CHECK_ALL(argmin(e).value() == test::argmin_of(m.cells));
  CHECK_ALL(count(e).value() ==
            std::count_if(m.cells.begin(), m.cells.end(), [](double x) { return x != 0; }));
  for (std::size_t d = 0; d < 2; ++d) {
    CAPTURE(d);
    auto const along = static_cast<std::int64_t>(d);
    CHECK_ALL(holds(sum(e, axis(along)), test::reduced_by(m, {d}, test::sum_of)));
    CHECK_ALL(
        holds(mean(e, axis(along).keep_dimensions()), test::reduced_by(m, {d}, test::mean_of)));
    CHECK_ALL(holds(var(e, axis(along)),
                    test::reduced_by(m, {d}, [](auto const& x) { return test::var_of(x); })));
    CHECK_ALL(holds(argmin(e, axis(along)), test::reduced_by(m, {d}, test::argmin_of<double>)));
  }
}

}  // namespace

TEST_CASE("six ones that wrap around three more cells are nine ones") {
  for (auto const& sharding : test::layouts_of_row(6)) {
    CAPTURE(sharding);
    auto const w = full<double>({6}, 1, sharding);
    auto const padded = pad(w, {2}, {1}, periodic);
    CHECK_ALL(sum(padded).value() == 9);
    CHECK_ALL(holds(sum(padded, axis(0).keep_dimensions()), Doubles{9}));
    CHECK_ALL(mean(padded).value() == 1);
    CHECK_ALL(count(padded > 0).value() == 9);
    CHECK_ALL(tessera::all(padded == 1).value());
    CHECK_ALL(any(pad(w, 0, 1, constant(0)) == 0).value());
    CHECK_ALL(argmin(pad(w, 3, 20, {constant(1), constant(0)})).value() == 9);
    CHECK_ALL(max(pad(w, 1, 0, constant(5)), axis(0)).value() == 5);
  }
}

TEST_CASE("padded planes reduce as if they were arrays, whatever their layouts") {
  auto const m = test::scrambled<double>({5, 7});
  Edges const mirrored{{BoundaryKind::reflect, 0}, {BoundaryKind::symmetric, 0}};
  Edges const threes{{BoundaryKind::constant, 3}, {BoundaryKind::constant, 3}};
  auto const wanted = m.padded({2, 0}, {1, 4}, {mirrored, threes});
  for (auto const& sharding : test::layouts_of_plane(5, 7)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const padded = pad(u, {2, 0}, {1, 4}, {{reflect, symmetric}, constant(3)});
    check_reductions(padded, wanted);
    check_reductions(transpose(padded), test::transposed(wanted, {1, 0}));
  }
}

TEST_CASE("padded slices, and sums of padded arrays, count each cell once") {
  auto const m = test::scrambled<double>({5, 7});
  Edges const wrapped{};
  std::vector<Edges> const edges{wrapped, wrapped};
  auto const part = m.slice({{4, -1, 3}, {0, 3, 3}});
  auto const total = test::combined<double>(
      {6, 7}, [](double x, double y) { return x + y; }, part.padded({1, 4}, {2, 0}, edges),
      m.padded({0, 0}, {1, 0}, edges));
  for (auto const& sharding : test::layouts_of_plane(5, 7)) {
    CAPTURE(sharding);
    auto const u = test::spread_out<double, 2>(m, sharding);
    auto const backwards = u(range(4, 1, -1), range(0, 7, 3));
    auto const both = pad(backwards, {1, 4}, {2, 0}, periodic) + pad(u, {0, 0}, {1, 0}, periodic);
    check_reductions(both, total);
    check_reductions(where(both > 50, both, 0),
                     test::combined<double>(
                         total.shape, [](double x) { return x > 50 ? x : 0; }, total));
  }
}

TEST_CASE("cells past the edges of nothing are cells") {
  auto const none_of = zeros<std::int64_t>({0, 3}, over(2, 4));

  auto const padded = pad(none_of, {2, 0}, {0, 1}, constant(5));
  CHECK_ALL(sum(padded).value() == 40);
  CHECK_ALL(holds(sum(padded, axis(0)), Integers{10, 10, 10, 10}));
  CHECK_ALL(holds(sum(padded, axis(1)), Integers{20, 20}));
  CHECK_ALL(holds(sum(pad(none_of, {0, 2}, {0, 2}, constant(5)), axis(0)), Integers(7, 0)));
}

TEST_CASE("a cut of equal pieces need not fit the padded extent") {
  NamedSharding const strict(Mesh({{"y", 4}, {"x", 2}}), P("y", "x"), Cut::strict());
  auto const u = full<double>({4, 2}, 1, strict);

  CHECK_ALL(sum(pad(u, {1, 0}, {0, 0}, edge)).value() == 10);
  CHECK_ALL(holds(sum(pad(u, {1, 0}, {0, 0}, edge), axis(0)), Doubles{5, 5}));
  auto const rows = sum(pad(u, {1, 0}, {0, 0}, edge), axis(1));
  CHECK_ALL(holds(rows, Doubles{2, 2, 2, 2, 2}));
  CHECK(rows.layout()->sharding().cut(0) == Cut::balanced());
}

TEST_CASE("arrays on two meshes are padded and summed") {
  auto const u = full<double>({4}, 1, over(4));
  auto const v = full<double>({7}, 1, over(3));
  CHECK_ALL(sum(pad(u, 1, 2, edge) + v).value() == 14);
}

TEST_CASE(
    "padding sends what lies beyond a device's own cells, and nothing if no dimension is cut") {
  auto const u = full<double>({12, 5}, 1, NamedSharding(test::row(3), P("x", none)));
  auto const messages = [](auto const& e) {
    return sent_by([&] { (void)sum(e).value(); }).messages;
  };
  auto const plain = messages(u);

  CHECK(messages(pad(u, {0, 2}, {0, 1}, periodic)) == plain);
  // Pieces of 5, 5 and 4 indices show cells -1 to 3, 4 to 8 and 9 to 12; one of them is elsewhere.
  CHECK(messages(pad(u, {1, 0}, {1, 0}, constant(0))) == plain + 1);
}

TEST_SUITE_END();
