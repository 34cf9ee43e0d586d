#include <limits>

#include "tessera/ops/reductions.hpp"

#include "misuse.hpp"

using namespace tessera;
using test::check_misuses;
using test::five;
using test::four_by_six;
using test::is;
using test::none_at_all;
using test::over;
using test::six;

/// What is wrong with reductions.
TEST_SUITE_BEGIN("ops/misuse");

namespace {

DistArray<double, 2> three_by_none() {
  return zeros<double>({3, 0}, over(2, 4));
}

std::vector<test::Misuse> const reductions{
    {"the smallest of no cells", [] { (void)min(none_at_all()); }, is<ShapeError>,
     "min of an array of shape (0,), which has no cells"},
    {"the largest of no cells", [] { (void)max(none_at_all() + 1.0); }, is<ShapeError>,
     "max of an array of shape (0,), which has no cells"},
    {"the place of the smallest of no cells", [] { (void)argmin(none_at_all()); }, is<ShapeError>,
     "argmin of an array of shape (0,), which has no cells"},
    {"the smallest of no cells along an axis", [] { (void)min(three_by_none(), axis(1)); },
     is<ShapeError>, "min of an array of shape (3, 0) along axis(1), which has no cells"},
    {"a sum along an axis that is not there", [] { (void)sum(four_by_six(), axis(2)); },
     is<ShapeError>, "there is no axis 2 in an array of 2 dimensions; there are -2 to 1"},
    {"a sum along an axis twice", [] { (void)sum(four_by_six(), axis(0, -2)); }, is<ShapeError>,
     "axis -2 names dimension 0 a second time in axis(0, -2); name each dimension once"},
    {"a sum of what reads no array", [] { (void)sum(index(0) + 1); }, is<UsageError>,
     "sum of an expression that reads no array"},
    {"a product of unequal extents", [] { (void)dot(six(), five()); }, is<ShapeError>,
     "dot of shapes (6,) and (5,), which must be equal"},
    {"a norm that is not there", [] { (void)norm(four_by_six(), 3.0); }, is<UsageError>,
     "a norm of order 3; the orders are 1, 2 and inf"},
    {"a norm that is no number",
     [] { (void)norm(four_by_six(), std::numeric_limits<double>::quiet_NaN()); }, is<UsageError>,
     "a norm of order nan; the orders are 1, 2 and inf"},
    {"the largest magnitude of no cells", [] { (void)norm(none_at_all(), inf); }, is<ShapeError>,
     "norm of an array of shape (0,), which has no cells"},
};

}  // namespace

TEST_CASE("reductions that have no value") {
  check_misuses(reductions);
}

TEST_SUITE_END();
