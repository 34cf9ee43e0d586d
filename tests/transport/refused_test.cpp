#include "src/transport/protocol/refused.hpp"

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/refused");

TEST_CASE("what was refused is counted by its kind and told in one line") {
  Refused refused;
  CHECK(refused_text(refused.counts()).empty());

  refused.add(RefusedKind::heartbeat);
  for (int i = 0; i < 3; ++i) refused.add(RefusedKind::guest);

  CHECK(refused.count(RefusedKind::guest) == 3);
  CHECK(refused.count(RefusedKind::request) == 0);
  CHECK(refused_text(refused.counts()) ==
        "tessera: refused 3 connections, 1 heartbeat, which no process of this job had signed\n");
}

TEST_SUITE_END();
