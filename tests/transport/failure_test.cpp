#include "src/transport/protocol/failure.hpp"

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/failure");

TEST_CASE("the first failure is the one that is thrown, as often as anybody looks") {
  Failure failure;
  CHECK_FALSE(failure.is_set());
  CHECK_NOTHROW(failure.throw_if_set());

  failure.set(std::make_exception_ptr(PeerFailed("first")));
  failure.set(std::make_exception_ptr(Error("second")));

  CHECK(failure.is_set());
  for (int look = 0; look < 2; ++look)
    CHECK_THROWS_WITH_AS(failure.throw_if_set(), "first", PeerFailed);
}

TEST_SUITE_END();
