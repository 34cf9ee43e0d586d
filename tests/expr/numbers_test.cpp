#include <complex>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>
#include <tessera/tessera.hpp>

#include "support/noted_numbers.hpp"

namespace ts = tessera;
using ts::test::check_is_steady;
using ts::test::hash_of;
using ts::test::list_of;

TEST_SUITE_BEGIN("expr/numbers");

// The numbers of statements as the processes compare them (TESSERA_CHECK=numbers).

namespace {

ts::NamedSharding rows() {
  return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x")};
}

// Has bytes that belong to no member, before and behind a number that may not lie on one line.
struct Padded {
  char kind;
  double mass;
  bool is_hot;
  long double charge;
  std::int16_t spin;
};

// The same value in memory that held other bytes before.
Padded in_dirty_memory(int dirt, double mass) {
  Padded result;
  std::memset(static_cast<void*>(&result), dirt, sizeof result);
  result.kind = 'e';
  result.mass = mass;
  result.is_hot = true;
  result.charge = 0.5L;
  result.spin = 3;
  return result;
}

template <class T>
void check_literal(T one, T other) {
  CAPTURE(ts::dtype_name<T>());
  ts::DistArray<T, 1> u(ts::Shape{11}, rows());
  auto const set = [&](T value) { return [&u, value] { u = value; }; };

  check_is_steady(set(one));
  CHECK(hash_of(set(one)) != hash_of(set(other)));
}

}  // namespace

TEST_CASE("numbers of every type are told apart, whatever the stack held before") {
  check_literal<double>(2.0, 3.0);
  check_literal<float>(0.1F, 0.2F);
  check_literal<long double>(0.1L, 0.1L + std::numeric_limits<long double>::epsilon());
  check_literal<ts::float16>(ts::float16(0.5), ts::float16(0.25));
  check_literal<ts::bfloat16>(ts::bfloat16(0.5), ts::bfloat16(0.25));
  check_literal<std::complex<float>>({1, 2}, {1, 3});
  check_literal<std::complex<double>>({1, 2}, {2, 2});
  check_literal<bool>(true, false);
  check_literal<std::int8_t>(-1, 1);
  check_literal<std::uint64_t>(std::uint64_t{1} << 63U, 0);
}

TEST_CASE("the bytes between a struct's members do not count") {
  ts::DistArray<Padded, 1> u(ts::Shape{11}, rows());
  auto const set = [&](int dirt, double mass) {
    return [&u, value = in_dirty_memory(dirt, mass)] { u = value; };
  };

  auto const one = hash_of(set(0x55, 1.5));

  CHECK(hash_of(set(0xaa, 1.5)) == one);
  if (ts::detail::clears_padding) CHECK(hash_of(set(0x55, 1.25)) != one);
}

TEST_CASE("all NaNs are one number in each form of statement") {
  ts::DistArray<double, 1> u(ts::Shape{11}, rows());
  ts::DistArray<ts::float16, 1> h(ts::Shape{11}, rows());
  double const one = std::numeric_limits<double>::quiet_NaN();
  double const other = -__builtin_nan("0x1234");

  CHECK(hash_of([&] { u = one; }) == hash_of([&] { u = other; }));
  CHECK(hash_of([&] { u = u * one; }) == hash_of([&] { u = u * other; }));
  CHECK(hash_of([&] { u = ts::shift(u, 1, ts::constant(one)); }) ==
        hash_of([&] { u = ts::shift(u, 1, ts::constant(other)); }));
  CHECK(hash_of([&] { h = ts::float16::from_bits(0x7e00); }) ==
        hash_of([&] { h = ts::float16::from_bits(0xfe01); }));
}

TEST_CASE("numbers count wherever they stand in a statement") {
  auto u = ts::iota<double>({11, 3}, {rows().mesh(), ts::P("x", ts::none)});
  auto const differ = [](auto const& statement) {
    check_is_steady([&] { statement(2.0); });
    CHECK(hash_of([&] { statement(2.0); }) != hash_of([&] { statement(3.0); }));
  };

  differ([&](double x) { u = x * u; });
  differ([&](double x) { u += x; });
  differ([&](double x) { u(ts::range(1, 3), ts::all) = x; });
  differ([&](double x) { u(u > x) = 0.0; });
  differ([&](double x) { u = ts::where(u > 0.0, u, x); });
  differ([&](double x) { u = ts::shift(u, {1, 0}, ts::constant(x)); });
}

TEST_CASE("a member that is written has its number, and the rest of the struct none") {
  ts::DistArray<Padded, 1> u(ts::Shape{11}, rows());
  u = in_dirty_memory(0, 1.0);

  CHECK(list_of([&] { ts::field<&Padded::mass>(u) = 2.5; }) == "2.5");
  CHECK(list_of([&] { ts::field<&Padded::mass>(u) *= 0.5; }) == "0.5");
}

TEST_CASE("a description shows the numbers as they were written") {
  ts::DistArray<double, 1> u(ts::Shape{11}, rows());

  CHECK(list_of([&] { u = 0.5 * u + 0.1; }) == "0.5, 0.1");
  CHECK(list_of([&] { u = u + u; }).empty());
}

TEST_SUITE_END();
