#include "src/runtime/statements/statement_log.hpp"

#include <doctest/doctest.h>

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("runtime/statement_log");

TEST_CASE("statements are numbered from 1, each with its hash and place") {
  test::OneProcess job(1);
  StatementLog log(job.network);
  CHECK(log.last().number == 0);

  auto const first = log.begin(7, SourceLocation("a.cpp", 3));
  auto const second = log.begin(8, {});

  CHECK(first.number == 1);
  CHECK(first.hash == 7);
  CHECK(first.location.line == 3);
  CHECK(second.number == 2);
  CHECK(log.last().number == 2);
  CHECK(log.last().hash == 8);
}

TEST_CASE("nobody is asked for words where nothing is compared") {
  test::OneProcess job(1);
  StatementLog log(job.network);
  bool was_asked = false;

  auto const tag = log.begin(1, {});
  log.compare(tag, [&was_asked] {
    was_asked = true;
    return std::string();
  });

  CHECK_FALSE(log.compares());
  CHECK_FALSE(was_asked);
}

TEST_SUITE_END();
