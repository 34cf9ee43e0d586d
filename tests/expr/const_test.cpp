#include <doctest/doctest.h>

#include "tessera/array/field.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// What a const array shows can be read and not written.
TEST_SUITE_BEGIN("expr/const");

namespace {

struct Point {
  double x;
  double y;
};

// Whether values can be written into what an expression makes.
template <class V, class E>
concept Writes = requires(V target, E const& value) {
  target = value;
};
template <class V>
concept Changes = requires(V target) {
  target += 1.0;
};
// By the number, by an array, by a slice of the same type.
template <class V>
constexpr bool is_target =
    Writes<V, double>&& Writes<V, DistArray<double, 1>>&& Writes<V, V>&& Changes<V>;
template <class V>
constexpr bool is_only_read =
    !Writes<V, double> && !Writes<V, DistArray<double, 1>> && !Writes<V, V> && !Changes<V>;

using Line = DistArray<double, 1>;
using Points = DistArray<Point, 1>;

template <class U>
using Slice = decltype(std::declval<U&>()(range(0, 3)));
template <class U>
using SliceOfSlice = decltype(std::declval<U&>()(range(0, 3))(range(1, 2)));
template <class U>
using Element = decltype(std::declval<U&>()(2));
template <class U>
using Masked = decltype(std::declval<U&>()(std::declval<Line&>() < 1.0));
template <class U>
using MaskedSlice = decltype(std::declval<U&>()(tessera::all)(std::declval<Line&>() < 1.0));
template <class U>
using Flipped = decltype(flip(std::declval<U&>()));
template <class U>
using Transposed = decltype(transpose(std::declval<U&>()));
template <class U>
using Xs = decltype(field<&Point::x>(std::declval<U&>()));
template <class U>
using SlicedXs = decltype(field<&Point::x>(std::declval<U&>())(range(0, 3)));
template <class U>
using XsOfSlice = decltype(field<&Point::x>(std::declval<U&>()(range(0, 3))));

static_assert(is_target<Slice<Line>> && is_only_read<Slice<Line const>>);
static_assert(is_target<SliceOfSlice<Line>> && is_only_read<SliceOfSlice<Line const>>);
static_assert(is_target<Flipped<Line>> && is_only_read<Flipped<Line const>>);
static_assert(is_target<Transposed<Line>> && is_only_read<Transposed<Line const>>);
static_assert(is_target<Xs<Points>> && is_only_read<Xs<Points const>>);
static_assert(is_target<SlicedXs<Points>> && is_only_read<SlicedXs<Points const>>);
static_assert(is_target<XsOfSlice<Points>> && is_only_read<XsOfSlice<Points const>>);
static_assert(Writes<Element<Line>, double> && !Writes<Element<Line const>, double>);
static_assert(Writes<Masked<Line>, double> && !Writes<Masked<Line const>, double>);
static_assert(Writes<MaskedSlice<Line>, double> && !Writes<MaskedSlice<Line const>, double>);
static_assert(Changes<Masked<Line>> && !Changes<Masked<Line const>>);
static_assert(!Writes<Line const, double> && !Changes<Line const>);

// A view is a handle: a const one of an array that is not const still writes the array's cells.
static_assert(is_target<Slice<Line> const> && is_only_read<Slice<Line const> const>);
// No conversion takes const away.
static_assert(!std::is_convertible_v<Slice<Line const>, Slice<Line>> &&
              !std::is_constructible_v<Slice<Line>, Slice<Line const> const&>);

}  // namespace

TEST_CASE("slices of a const array are read like others") {
  auto const u = iota<double>({6}, over(3));
  auto w = zeros<double>({4}, over(2));

  w = u(range(1, 5)) + 2.0 * u(range(2, none));
  CHECK_ALL(holds(w, std::vector<double>{5, 8, 11, 14}));
  w(range(0, 2)) = u(range(4, none));
  w(w > 10.0) = u(range(0, 4));
  CHECK_ALL(holds(w, std::vector<double>{4, 5, 2, 3}));

  w = shift(u(range(0, 4)), 1, edge) + flip(u(range(0, 4)));
  CHECK_ALL(holds(w, std::vector<double>{4, 4, 4, 3}));
  CHECK_ALL(holds(DistArray(u(range(none, none, 2))), std::vector<double>{0, 2, 4}));
  double const third = u(2);
  CHECK(third == 2.0);
  CHECK(u(range(3, none)).to_host() == std::vector<double>{3, 4, 5});
}

TEST_CASE("members of the structs of a const array are read like others") {
  auto const u = from_index<Point>({4}, over(3), [](auto i) {
    return Point{static_cast<double>(i[0]), 10.0 * static_cast<double>(i[0])};
  });
  auto w = zeros<double>({4}, over(2));

  w = field<&Point::x>(u) + field<&Point::y>(u);
  CHECK_ALL(holds(w, std::vector<double>{0, 11, 22, 33}));
  w(range(0, 2)) = field<&Point::y>(u)(range(1, 3)) - field<&Point::x>(u(range(2, none)));
  CHECK_ALL(holds(w, std::vector<double>{8, 17, 22, 33}));
}

TEST_SUITE_END();
