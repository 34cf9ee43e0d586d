#include "src/base/log.hpp"

#include <doctest/doctest.h>

#include "support/captured.hpp"

using namespace tessera;
using test::captured;

TEST_SUITE_BEGIN("base/log");

TEST_CASE("lines say what they are") {
  auto const seen = captured([] {
    log_warning("slow route");
    log_error("no route");
  });

  CHECK(seen.errors == "tessera: warning: slow route\ntessera: error: no route\n");
}

TEST_CASE("once the process is known, lines name it") {
  auto const seen = captured([] {
    set_log_process(ProcessId{3});
    log_warning("slow route");
    log_error("no route");
  });

  CHECK(seen.errors == "tessera[3]: warning: slow route\ntessera[3]: error: no route\n");
}

TEST_CASE("a warning that is said once is said once, whoever says it again") {
  auto const seen = captured([] {
    log_warning_once("slow route");
    log_warning_once("slow route");
    log_warning_once("another");
    log_warning("slow route");
  });

  CHECK(seen.errors ==
        "tessera: warning: slow route\ntessera: warning: another\ntessera: warning: slow route\n");
}

TEST_CASE("a line cannot steer the terminal, whoever worded it") {
  auto const seen = captured([] { log_error("first\n\tsecond\x1b[2J\r"); });

  CHECK(seen.errors == "tessera: error: first\n\tsecond\\x1b[2J\\x0d\n");
}

TEST_CASE("of a long line the beginning is written, and its length") {
  auto const seen = captured([] { log_error(std::string(std::size_t{10'000'000}, 'x') + '\n'); });

  CHECK(seen.errors == "tessera: error: " + std::string(16 * 1024, 'x') + "... (10000001 bytes)\n");
}

TEST_SUITE_END();
