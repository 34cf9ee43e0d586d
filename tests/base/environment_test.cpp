#include "src/base/environment.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/checks.hpp"

#include "support/odd_locale.hpp"
#include "support/setting.hpp"

using namespace tessera;
using test::Setting;

TEST_SUITE_BEGIN("base/environment");

namespace {

constexpr char const* name = "TESSERA_TEST_SETTING";

}  // namespace

TEST_CASE("a variable that is unset or empty has no value of any kind") {
  CHECK_FALSE(environment(name).has_value());
  Setting const empty(name, "");
  CHECK_FALSE(environment(name).has_value());
  CHECK_FALSE(environment_integer(name, 1).has_value());
  CHECK_FALSE(environment_seconds(name).has_value());
  CHECK_FALSE(environment_choice(name, {"shm"}).has_value());
}

TEST_CASE("a variable is read as text, a whole number, seconds or a choice") {
  {
    Setting const setting(name, "any text");
    CHECK(*environment(name) == "any text");
  }
  {
    Setting const setting(name, "8");
    CHECK(*environment_integer(name, 1) == 8);
    CHECK(*environment_integer(name, 8) == 8);
    CHECK(*environment_seconds(name) == 8.0);
  }
  {
    Setting const setting(name, "-3");
    CHECK(*environment_integer(name, -3) == -3);
  }
  {
    Setting const setting(name, "0.25");
    CHECK(*environment_seconds(name) == 0.25);
  }
  {
    Setting const setting(name, "shm");
    CHECK(*environment_choice(name, {"mpi", "shm"}) == "shm");
  }
}

TEST_CASE("a number that is none, too small or too long is refused with the variable's name") {
  for (char const* value :
       {"eight", "8x", "1.5", " 8", "8 ", "+8", "0x10", "0", "-1", "99999999999999999999"}) {
    CAPTURE(value);
    Setting const setting(name, value);
    auto const message =
        std::string(name) + "=" + value + " is not a whole number of at least 1; fix or unset it";
    CHECK_THROWS_WITH_AS((void)environment_integer(name, 1), message.c_str(), ConfigError);
  }
}

TEST_CASE("seconds that are none, negative or without end are refused with the variable's name") {
  for (char const* value : {"soon", "1s", "-0.5", "inf", "nan", "1e999", "0.5 "}) {
    CAPTURE(value);
    Setting const setting(name, value);
    auto const message =
        std::string(name) + "=" + value + " is not a number of seconds; fix or unset it";
    CHECK_THROWS_WITH_AS((void)environment_seconds(name), message.c_str(), ConfigError);
  }
}

TEST_CASE("a choice that there is not is refused with the choices that there are") {
  Setting const setting(name, "SHM");

  CHECK_THROWS_WITH_AS((void)environment_choice(name, {"mpi", "shm"}),
                       "TESSERA_TEST_SETTING=SHM is not one of mpi, shm; fix or unset it",
                       ConfigError);
}

TEST_CASE("words with commas between them are read in any order") {
  CHECK(environment_words(name, {"a", "b"}).empty());
  Setting const setting(name, "b,a");
  CHECK(environment_words(name, {"a", "b"}) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("a word that there is not is refused with the words that there are") {
  for (auto const& [value, word] :
       {std::pair("c", "c"), {"a,recordings", "recordings"}, {"a,", ""}, {"a b", "a b"}}) {
    CAPTURE(value);
    Setting const setting(name, value);
    auto const message =
        std::string(name) + "=" + value + ": '" + word + "' is not one of a, b; fix or unset it";
    CHECK_THROWS_WITH_AS((void)environment_words(name, {"a", "b"}), message.c_str(), ConfigError);
  }
}

TEST_CASE("what TESSERA_CHECK asks for") {
  auto const read = [](char const* value) {
    Setting const setting("TESSERA_CHECK", value);
    auto const [communication, numbers, recording] = Checks::from_environment();
    return std::array{communication, numbers, recording};
  };
  CHECK(read("") == std::array{false, false, false});
  CHECK(read("none") == std::array{false, false, false});
  CHECK(read("communication") == std::array{true, false, false});
  CHECK(read("numbers") == std::array{true, true, false});
  CHECK(read("recording") == std::array{false, false, true});
  CHECK(read("recording,communication") == std::array{true, false, true});
  CHECK(read("recording,numbers") == std::array{true, true, true});
  CHECK_THROWS_AS(read("none,numbers"), ConfigError);
  CHECK_THROWS_AS(read("records"), ConfigError);
}

TEST_CASE("numbers are read the same whatever locale the program has set") {
  test::OddLocale const odd;
  {
    Setting const setting(name, "0.25");
    CHECK(*environment_seconds(name) == 0.25);
  }
  Setting const setting(name, "12345");
  CHECK(*environment_integer(name, 1) == 12345);
  CHECK_THROWS_WITH_AS((void)environment_integer(name, 54321),
                       doctest::Contains("of at least 54321;"), ConfigError);
}

TEST_CASE("of a variable that cannot be read, a message shows the beginning, printable") {
  auto const value = "\x1b[2J" + std::string(100'000, 'x');
  Setting const setting(name, value);
  auto const message = [](auto const& read) {
    try {
      (void)read();
    } catch (ConfigError const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (auto const& words : {message([] { return environment_integer(name, 1); }),
                            message([] { return environment_seconds(name); }),
                            message([] { return environment_choice(name, {"a"}); }),
                            message([] { return environment_words(name, {"a"}); })}) {
    CAPTURE(words);
    CHECK(words.starts_with("TESSERA_TEST_SETTING=\\x1b[2Jxxx"));
    CHECK(words.find("xxx... (100004 bytes)") != std::string::npos);
    CHECK(words.size() < 400);
    CHECK(words.find('\x1b') == std::string::npos);
  }
}

TEST_SUITE_END();
