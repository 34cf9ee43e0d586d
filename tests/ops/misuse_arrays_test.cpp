#include <cstdint>
#include <utility>

#include "tessera/array/creation.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/runtime/budget.hpp"

#include "misuse.hpp"

using namespace tessera;
using test::check_misuses;
using test::five;
using test::four_by_six;
using test::is;
using test::none_at_all;
using test::over;
using test::six;

/// What is wrong with arrays that are there: slices, shapes, axes, boundaries, literals.
TEST_SUITE_BEGIN("ops/misuse");

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;

using Vector = DistArray<double, 1>;
using Bytes = DistArray<std::uint8_t, 1>;

Bytes bytes() {
  return full<std::uint8_t>({6}, 200, over(4));
}
Vector elsewhere() {
  return iota<double>({6}, NamedSharding(Mesh({6, 7}, {2}, {"x"}), P("x")));
}
void use_what_was_moved_from() {
  auto u = six();
  Vector const taken = std::move(u);
  u = taken(range(0, 3)) + u;  // NOLINT: that it is used after the move is the point
}

std::vector<test::Misuse> const slices{
    {"an element behind the last", [] { (void)six()(6); }, is<IndexError>,
     "index 6 is outside dimension 0, which has 6 cells"},
    {"an element before the first", [] { (void)four_by_six()(tessera::all, -7); }, is<IndexError>,
     "index -7 is outside dimension 1, which has 6 cells"},
    {"an element to write that is not there", [] { six()(9) = 1.0; }, is<IndexError>,
     "index 9 is outside dimension 0, which has 6 cells"},
    {"an element of an empty array", [] { (void)none_at_all()(0); }, is<IndexError>,
     "index 0 is outside dimension 0, which has 0 cells"},
    {"an element outside a slice", [] { (void)six()(range(1, 3))(2); }, is<IndexError>,
     "index 2 is outside dimension 0, which has 2 cells"},
    {"a range that does not advance", [] { (void)six()(range(0, 6, 0)); }, is<ShapeError>,
     "a range has step 0; use 1 for every cell or -1 to reverse"},
    {"an array that was moved from", use_what_was_moved_from, is<UsageError>,
     "this array was moved from; assign another array to it before it is used"},
};

std::vector<test::Misuse> const shapes{
    {"a sum of unequal extents", [] { (void)(six() + five()); }, is<ShapeError>,
     "the shapes (6,) and (5,) do not fit together; extents must be equal or 1, from the last on"},
    {"a row beside a matrix with other columns", [] { (void)(four_by_six() + five()); },
     is<ShapeError>, "the shapes (4, 6) and (5,) do not fit together"},
    {"a new dimension in the wrong place",
     [] { (void)(four_by_six() + six()(tessera::all, newaxis)); }, is<ShapeError>,
     "the shapes (4, 6) and (6, 1) do not fit together"},
    {"an array assigned to another shape", [] { six() = five() + 0.0; }, is<ShapeError>,
     "an expression of shape (5,) cannot be assigned to (6,); extents must be equal or 1, from "
     "the last on"},
    {"a slice assigned an array of another length", [] { six()(range(0, 2)) = five() + 0.0; },
     is<ShapeError>, "an expression of shape (5,) cannot be assigned to (2,)"},
    {"a column assigned a row",
     [] {
       auto w = four_by_six();
       w(tessera::all, 0) = w(0, tessera::all);
     },
     is<ShapeError>, "an expression of shape (6,) cannot be assigned to (4,)"},
    {"a mask of another shape", [] { six()(five() > 1.0) = 0.0; }, is<ShapeError>,
     "a mask of shape (5,) cannot select from an array of shape (6,); extents must be equal or 1"},
    {"a mask with the selected values alone", [] { six()(six() > 0.0) = five() + 0.0; },
     is<ShapeError>, "an expression of shape (5,) cannot be assigned to (6,)"},
    {"where of unequal extents", [] { (void)where(six() > 1.0, five(), 0.0); }, is<ShapeError>,
     "the shapes (6,) and (5,) do not fit together"},
    {"the index along a dimension that is not there",
     [] {
       auto u = six();
       u = u + index(1);
     },
     is<ShapeError>,
     "index(1) in a statement or an expression of 1 dimension; they are counted from 0"},
    {"a new array of arrays on two meshes", [] { (void)Vector(six() + elsewhere()); },
     is<UsageError>,
     "a new array from arrays on different meshes (on one device such meshes may be equal) needs a "
     "sharding: DistArray(expression, sharding)"},
    {"a literal beside an array that cannot hold it", [] { (void)(bytes() + 300); }, is<UsageError>,
     "the number 300 does not fit the array's type uint8; cast the array to a "
     "wider type first"},
    {"a comparison with a number that no element can be", [] { (void)(bytes() > -1); },
     is<UsageError>, "the number -1 does not fit the array's type uint8"},
    {"a number assigned that no element can be", [] { bytes() = 300; }, is<UsageError>,
     "the number 300 does not fit the array's type uint8"},
    {"a number assigned to a slice that no element can be", [] { bytes()(range(0, 3)) = -1; },
     is<UsageError>, "the number -1 does not fit the array's type uint8"},
    {"a number behind a mask that no element can be",
     [] {
       auto b = bytes();
       b(b > 1) = 256;
     },
     is<UsageError>, "the number 256 does not fit the array's type uint8"},
};

std::vector<test::Misuse> const axes{
    {"an axis behind the last", [] { (void)flip(four_by_six(), 2); }, is<ShapeError>,
     "there is no axis 2 in an array of 2 dimensions; there are -2 to 1"},
    {"an axis before the first", [] { (void)roll(six(), 1, -2); }, is<ShapeError>,
     "there is no axis -2 in an array of 1 dimension; there are -1 to 0"},
    {"the extent behind the last", [] { (void)four_by_six().extent(2); }, is<ShapeError>,
     "there is no dimension 2 in an array of 2 dimensions; they are counted from 0"},
    {"the extent before the first", [] { (void)six().extent(static_cast<std::size_t>(-1)); },
     is<ShapeError>,
     "there is no dimension -1 in an array of 1 dimension; they are counted from 0"},
    {"a flip along one axis twice",
     [] {
       (void)flip(four_by_six(), {1, -1});
     },
     is<ShapeError>, "axis -1 is named twice; name each axis once"},
    {"a transpose with an axis twice",
     [] {
       (void)transpose(four_by_six(), {0, 0});
     },
     is<ShapeError>, "axis 0 is named twice; name each axis once"},
    {"a transpose with too few axes", [] { (void)transpose(four_by_six(), {0}); }, is<ShapeError>,
     "transpose got 1 axis for an array of 2 dimensions; name each dimension once"},
    {"a transpose with an axis that is not there",
     [] {
       (void)transpose(four_by_six(), {0, 2});
     },
     is<ShapeError>, "there is no axis 2 in an array of 2 dimensions"},
    {"a shift with too few offsets", [] { (void)shift(four_by_six(), {1}, periodic); },
     is<ShapeError>, "shift got 1 offset for an array of 2 dimensions; give one per dimension"},
    {"a shift with too many boundaries",
     [] {
       (void)shift(four_by_six(), {1, 0}, {edge, edge, edge});
     },
     is<ShapeError>,
     "shift got 3 boundaries for an array of 2 dimensions; give one for all or one per dimension"},
    {"a boundary periodic below only", [] { (void)shift(six(), 1, Boundaries(periodic, edge)); },
     is<UsageError>, "dimension 0 is periodic at one end only; make both ends periodic or neither"},
    {"a boundary periodic above only",
     [] {
       (void)shift(four_by_six(), {0, 1}, {edge, Boundaries(edge, periodic)});
     },
     is<UsageError>, "dimension 1 is periodic at one end only"},
    {"a dimension of one cell shifted past a constant and repeated",
     [] {
       auto w = four_by_six();
       w = shift(six()(newaxis, tessera::all), {1, 0}, constant(7)) + w;
     },
     is<UsageError>,
     "dimension 0 of one cell is shifted past a constant edge and repeated; assign the shifted "
     "array to one of its own first"},
    {"a slice by steps past the edge of a shifted array",
     [] { (void)shift(six(), 2, periodic)(range(0, 6, 2)); }, is<UsageError>,
     "misuse_arrays_test.cpp:"},
    {"a constant past the edge that no element can be",
     [] { (void)shift(bytes(), 1, constant(-1)); }, is<UsageError>,
     "the number -1 does not fit the array's type uint8"},
    {"a shift beyond any number", [] { (void)shift(six(), 2 * (huge - 1), periodic); },
     is<UsageError>, "an offset has a magnitude of at most 2^62"},
    {"a roll beyond any number", [] { (void)roll(six(), -2 * huge); }, is<UsageError>,
     "dimension 0 is shifted by -9223372036854775808 cells"},
};

std::vector<test::Misuse> const joined{
    {"a reshape to another number of cells", [] { (void)reshape(six(), {4}); }, is<ShapeError>,
     "an array of shape (6,), which has 6 cells, cannot be reshaped to (4,), which has 4"},
    {"a reshape with nothing whole left",
     [] {
       (void)reshape(six(), {4, -1});
     },
     is<ShapeError>,
     "cannot be reshaped to (4, -1): the other extents have 4 cells, which leaves no whole number"},
    {"a reshape with two open extents",
     [] {
       (void)reshape(six(), {-1, -1});
     },
     is<ShapeError>,
     "cannot be reshaped to (-1, -1); only one extent can be -1, which is then computed"},
    {"a reshape to a negative extent",
     [] {
       (void)reshape(six(), {-2, 3});
     },
     is<ShapeError>, "the shape (-2, 3) has a negative extent; extents are 0 or more"},
    {"arrays joined that differ elsewhere",
     [] { (void)concatenate(0, four_by_six(), four_by_six()(tessera::all, range(0, 5))); },
     is<ShapeError>,
     "concatenate: the shapes (4, 6) and (4, 5) differ in dimension 1; "
     "they may differ only along axis 0"},
    {"arrays joined along no axis", [] { (void)concatenate(1, six(), six()); }, is<ShapeError>,
     "there is no axis 1 in an array of 1 dimension; there are -1 to 0"},
    {"arrays joined on two meshes", [] { (void)concatenate(0, six(), elsewhere()); },
     is<UsageError>,
     "concatenate of arrays on different meshes (on one device such meshes may be equal); reshard "
     "them to one mesh, or make the result"},
    {"arrays stacked that differ", [] { (void)stack(0, six(), five()); }, is<ShapeError>,
     "stack: the shapes (6,) and (5,) differ; they have to be equal"},
    {"arrays stacked along no axis", [] { (void)stack(2, six(), six()); }, is<ShapeError>,
     "there is no axis 2 in an array of 2 dimensions; there are -2 to 1"},
    {"a negative number of repetitions", [] { (void)repeat(six(), -1, 0); }, is<ShapeError>,
     "repeat: the count -1 is negative; counts are 0 or more"},
    {"repetitions beyond any number", [] { (void)repeat(six(), huge, 0); }, is<ShapeError>,
     "repeat: 6 cells 4611686018427387904 times are more than 2^62 cells"},
    {"cells padded away", [] { (void)pad(six(), -1, 1, edge); }, is<ShapeError>,
     "pad by -1 and 1 along dimension 0; numbers of cells are 0 or more; take a slice to drop"},
    {"one padding for two dimensions", [] { (void)pad(four_by_six(), {1}, {1}, edge); },
     is<ShapeError>,
     "pad got 1 and 1 numbers for an array of 2 dimensions; give one per dimension"},
    {"an edge padded that has no cell", [] { (void)pad(none_at_all(), 1, 1, edge); },
     is<ShapeError>,
     "dimension 0 has no cell that could be repeated past its edges; pad it with a constant"},
    {"a padding beyond any number", [] { (void)pad(six(), huge, huge, edge); }, is<ShapeError>,
     "pad by 4611686018427387904 and 4611686018427387904 along dimension 0 makes more than 2^62"},
};

std::vector<test::Misuse> const budgets{
    {"a statement that sends more messages than its budget",
     [] {
       auto u = six();
       CommunicationBudget const budget({.messages = 0});
       u = roll(u, 1);
     },
     is<BudgetExceeded>, "Raise the budget, or choose layouts that move less"},
    {"a statement that gathers within a budget of no gathers",
     [] {
       auto u = six();
       CommunicationBudget const budget({.gathers = 0});
       u = u(range(none, none, -1)) + 1.0;
     },
     is<BudgetExceeded>, "Raise the budget, or choose layouts that move less"},
};

}  // namespace

TEST_CASE("elements and ranges that are not there") {
  check_misuses(slices);
}

TEST_CASE("shapes and numbers that do not fit") {
  check_misuses(shapes);
}

TEST_CASE("axes, offsets and boundaries that cannot be") {
  check_misuses(axes);
}

TEST_CASE("arrays that cannot be put together") {
  check_misuses(joined);
}

TEST_CASE("statements beyond their budgets") {
  check_misuses(budgets);
}

TEST_SUITE_END();
