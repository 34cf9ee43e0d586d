#include "src/base/text.hpp"

#include <iomanip>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "support/odd_locale.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/text");

TEST_CASE("text writes its parts one after the other") {
  CHECK(text() == "");
  CHECK(text("axis ", 0, " has ", std::string("three"), ' ', 2.5) == "axis 0 has three 2.5");
}

TEST_CASE("join puts commas between items and brackets around them") {
  CHECK(join(std::vector<int>{}) == "");
  CHECK(join(std::vector<int>{}, "{", "}") == "{}");
  CHECK(join(std::vector<int>{7}, "(", ",)") == "(7,)");
  CHECK(join(std::vector<int>{1, 2, 3}) == "1, 2, 3");
  CHECK(join(std::vector<std::string>{"a", "b"}, "<", ">", " | ") == "<a | b>");
}

TEST_CASE("one is singular, any other number is plural") {
  CHECK(counted(0, "message") == "0 messages");
  CHECK(counted(1, "message") == "1 message");
  CHECK(counted(2, "message") == "2 messages");
  CHECK(counted(-1, "cell") == "-1 cells");
}

TEST_CASE("bytes are written in the largest unit that leaves at least one") {
  CHECK(bytes_text(0) == "0 B");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(65536) == "64.0 KiB");
  CHECK(bytes_text(1536 * 1024) == "1.5 MiB");
  CHECK(bytes_text(std::int64_t{3} << 30) == "3.0 GiB");
  CHECK(bytes_text(std::int64_t{1} << 62) == "4096.0 PiB");
}

TEST_CASE("numbers are written the same whatever locale the program has set") {
  test::OddLocale const odd;

  CHECK(text(1234567, ' ', 0.5) == "1234567 0.5");
  CHECK(text(std::fixed, std::setprecision(2), 12345.678) == "12345.68");
  CHECK(join(std::vector<int>{12345, 6}, "(", ")") == "(12345, 6)");
  CHECK(counted(12345, "cell") == "12345 cells");
  CHECK(bytes_text(std::int64_t{1} << 62) == "4096.0 PiB");
}

TEST_CASE("words are taken off the front of a line") {
  std::string_view line = " one\ttwo \n";

  CHECK(take_word(line) == "one");
  CHECK(take_word(line) == "two");
  CHECK(take_word(line) == "");
}

TEST_SUITE_END();
