#include "src/liveness/heartbeat_watch.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("liveness/heartbeat_watch");

TEST_CASE("silence is counted in beats of its own process, from the first look on") {
  HeartbeatWatch watch;
  CHECK_FALSE(watch.silence(100, 7));
  CHECK(watch.silence(100, 7) == 0);
  CHECK(watch.silence(100, 10) == 3);
  CHECK(watch.silence(100, 27) == 20);
}

TEST_CASE("a peer that beats is not silent") {
  HeartbeatWatch watch;
  CHECK_FALSE(watch.silence(100, 7));
  CHECK_FALSE(watch.silence(101, 57));
  CHECK(watch.silence(101, 58) == 1);
}

TEST_CASE("a job that is suspended as a whole is not silent: its own beats stand still too") {
  HeartbeatWatch watch;
  (void)watch.silence(100, 7);
  for (int look = 0; look < 1000; ++look) CHECK(watch.silence(100, 7) == 0);
}

TEST_CASE("that a peer may have left is not forgotten when it beats") {
  HeartbeatWatch watch;
  watch.may_have_left = true;
  (void)watch.silence(100, 7);
  (void)watch.silence(101, 8);
  CHECK(watch.may_have_left);
}

TEST_SUITE_END();
