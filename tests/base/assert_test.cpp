#include "tessera/detail/base/assert.hpp"

#include <doctest/doctest.h>

#include "src/base/detail.hpp"

#include "support/captured.hpp"

using namespace tessera;
using test::captured;

TEST_SUITE_BEGIN("base/assert");

namespace {

bool aborted(test::Captured const& seen) {
  return WIFSIGNALED(seen.status) && WTERMSIG(seen.status) == SIGABRT;
}

}  // namespace

TEST_CASE("a promise that is kept costs nothing, not even its values") {
  int written = 0;
  auto const value = [&] { return ++written; };

  TESSERA_ASSERT(1 < 2, "value ", value());

  CHECK(written == 0);
}

TEST_CASE("a broken promise aborts with the condition and its values") {
  auto const seen = captured([] {
    int const size = 5;
    TESSERA_ASSERT(size < 4, "size ", size);
  });

  CHECK(aborted(seen));
  CHECK(seen.errors.find("assert_test.cpp:") != std::string::npos);
  CHECK(seen.errors.find("tessera: error: broken invariant at ") == 0);
  CHECK(seen.errors.find(": size < 4 with size 5\n") != std::string::npos);
}

TEST_CASE("a promise without values can be broken too") {
  auto const seen = captured([] { TESSERA_ASSERT(2 < 1); });

  CHECK(aborted(seen));
  CHECK(seen.errors.find(": 2 < 1\n") != std::string::npos);
}

TEST_CASE("an inline vector never grows past its capacity") {
  auto const pushed = captured([] {
    InlineVector<int, 2> list{1, 2};
    list.push_back(3);
  });
  auto const resized = captured([] {
    InlineVector<int, 2> list;
    list.resize(3);
  });

  CHECK(aborted(pushed));
  CHECK(pushed.errors.find("2 items already") != std::string::npos);
  CHECK(aborted(resized));
  CHECK(resized.errors.find("3 items asked for") != std::string::npos);
}

TEST_SUITE_END();
