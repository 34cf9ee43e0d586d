#include "src/statement/numbers.hpp"

#include <array>
#include <limits>
#include <span>

#include <doctest/doctest.h>

#include "support/dirty_stack.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("statement/numbers");

namespace {

template <class Pass>
std::uint64_t hash_of(Pass const& pass) {
  HashNumbers numbers;
  pass(numbers);
  return numbers.hash();
}
template <class Pass>
std::string list_of(Pass const& pass) {
  ListNumbers numbers;
  pass(numbers);
  return numbers.list();
}

template <class T>
void check_nans(std::array<T, 3> const& nans) {
  for (auto const nan : nans)
    CHECK(hash_of([&](NumberVisitor& to) { to.real(nan); }) ==
          hash_of([&](NumberVisitor& to) { to.real(nans[0]); }));
}

// The argument of a call on a stack that was used before.
std::uint64_t hash_on_stack(int dirt, long double value) {
  test::dirty_stack(dirt);
  return hash_of([&](NumberVisitor& to) { to.real(value); });
}

}  // namespace

TEST_CASE("equal numbers have equal hashes, and others do not") {
  auto const two = hash_of([](NumberVisitor& to) { to.real(2.0); });

  CHECK(two == hash_of([](NumberVisitor& to) { to.real(2.0); }));
  CHECK(two != hash_of([](NumberVisitor& to) { to.real(2.0000000000000004); }));
  CHECK(two != 0);
}

TEST_CASE("the order of numbers counts") {
  CHECK(hash_of([](NumberVisitor& to) { to.real(2.0), to.real(3.0); }) !=
        hash_of([](NumberVisitor& to) { to.real(3.0), to.real(2.0); }));
}

TEST_CASE("all NaNs are one number, of each type") {
  check_nans<float>({std::numeric_limits<float>::quiet_NaN(),
                     -std::numeric_limits<float>::quiet_NaN(), __builtin_nanf("0x123")});
  check_nans<double>({std::numeric_limits<double>::quiet_NaN(),
                      -std::numeric_limits<double>::quiet_NaN(), __builtin_nan("0x123")});
  check_nans<long double>({std::numeric_limits<long double>::quiet_NaN(),
                           -std::numeric_limits<long double>::quiet_NaN(),
                           __builtin_nanl("0x123")});
}

TEST_CASE("0 and -0 are two numbers, since 1 / 0 and 1 / -0 are") {
  CHECK(hash_of([](NumberVisitor& to) { to.real(0.0); }) !=
        hash_of([](NumberVisitor& to) { to.real(-0.0); }));
}

TEST_CASE("of a long double only the bits of its value count") {
  auto const value = 0.1L;
  auto const next = value + std::numeric_limits<long double>::epsilon() * value;

  CHECK(hash_on_stack(0x55, value) == hash_on_stack(0xaa, value));
  CHECK(hash_on_stack(0x55, value) != hash_on_stack(0x55, next));
}

TEST_CASE("a list shows the fewest digits that tell numbers apart, and no positions") {
  CHECK(list_of([](NumberVisitor& to) {
          to.position(3);
          to.real(2.0);
          to.real(0.1F);
          to.real(0.1);
          to.signed_integer(-7);
          to.unsigned_integer(std::numeric_limits<std::uint64_t>::max());
        }) == "2, 0.1, 0.1, -7, 18446744073709551615");
  CHECK(list_of([](NumberVisitor&) {}).empty());
}

TEST_CASE("a list of many numbers ends") {
  auto const list = list_of([](NumberVisitor& to) {
    for (std::int64_t i = 0; i < 1000; ++i) to.signed_integer(i);
  });

  CHECK(list.starts_with("0, 1, 2, "));
  CHECK(list.ends_with(", ..."));
  CHECK(list.size() < 2 * ListNumbers::most);
}

TEST_CASE("a struct is shown by its bytes") {
  std::array<std::byte, 3> const bytes{std::byte{0x00}, std::byte{0x1f}, std::byte{0xa0}};

  CHECK(list_of([&](NumberVisitor& to) { to.structure(bytes); }) == "struct 0x001fa0");
}

TEST_CASE("a statement without numbers has none") {
  Statement const statement;

  CHECK(hash_of_numbers(statement) == 0);
  CHECK(list_of_numbers(statement).empty());
}

TEST_CASE("the number of a loop's step is one of a statement's numbers") {
  Statement one;
  one.step = 7;
  Statement other;
  other.step = 8;

  CHECK(hash_with_step(one) != hash_with_step(other));
  CHECK(hash_of_numbers(one) == hash_of_numbers(other));
  CHECK(list_of_numbers(one) == "step 7");
}

TEST_SUITE_END();
