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

TEST_CASE("text from outside cannot steer the terminal") {
  CHECK(printable("two words, 'quoted' \\ ~") == "two words, 'quoted' \\ ~");
  CHECK(printable("\x1b[2J") == "\\x1b[2J");
  CHECK(printable(std::string("a\nb\r\t\0\x7f", 7)) == "a\\x0ab\\x0d\\x09\\x00\\x7f");
  CHECK(printable("a\nb\r", "\n") == "a\nb\\x0d");
  // UTF-8 stays, but for the control characters that it has too.
  CHECK(printable("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8c\x8d") ==
        "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x8c\x8d");
  CHECK(printable("\xc2\x9b 2J") == "\\xc2\\x9b 2J");
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");
  // No overlong form, no surrogate, nothing above U+10FFFF; their neighbours are characters.
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(printable("\xe0\x9f\xbf \xe0\xa0\x80") == "\\xe0\\x9f\\xbf \xe0\xa0\x80");
  CHECK(printable("\xed\xa0\x80 \xed\x9f\xbf") == "\\xed\\xa0\\x80 \xed\x9f\xbf");
  CHECK(printable("\xf0\x8f\xbf\xbf \xf0\x90\x80\x80") == "\\xf0\\x8f\\xbf\\xbf \xf0\x90\x80\x80");
  CHECK(printable("\xf4\x90\x80\x80 \xf4\x8f\xbf\xbf") == "\\xf4\\x90\\x80\\x80 \xf4\x8f\xbf\xbf");
  CHECK(printable("\x9b\xff") == "\\x9b\\xff");
}

TEST_CASE("of a long text from outside the beginning and the length are shown") {
  std::string const longest(most_in_excerpt, 'x');

  CHECK(excerpt("") == "");
  CHECK(excerpt("short\x1b") == "short\\x1b");
  CHECK(excerpt(longest) == longest);
  CHECK(excerpt(longest + "y") == longest + "... (81 bytes)");
  CHECK(excerpt(std::string(2 << 20, '\0')).size() < 100);
  // No character is cut in two.
  std::string const euros = "\xe2\x82\xac\xe2\x82\xac";
  CHECK(excerpt(longest.substr(4) + euros) == longest.substr(4) + "\xe2\x82\xac... (82 bytes)");
}

TEST_CASE("words are taken off the front of a line") {
  std::string_view line = " one\ttwo \n";

  CHECK(take_word(line) == "one");
  CHECK(take_word(line) == "two");
  CHECK(take_word(line) == "");
}

TEST_SUITE_END();
