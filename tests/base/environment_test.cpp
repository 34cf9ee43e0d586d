#include "tessera/base/environment.hpp"

#include <cstdlib>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/environment");

namespace {

constexpr char const* name = "TESSERA_TEST_SETTING";

// The variable, set for as long as this object lives.
class Setting {
 public:
  explicit Setting(char const* value) { setenv(name, value, 1); }
  ~Setting() { unsetenv(name); }
  Setting(Setting const&) = delete;
  Setting& operator=(Setting const&) = delete;
};

}  // namespace

TEST_CASE("a variable that is unset or empty has no value of any kind") {
  CHECK_FALSE(environment(name).has_value());
  Setting const empty("");
  CHECK_FALSE(environment(name).has_value());
  CHECK_FALSE(environment_integer(name, 1).has_value());
  CHECK_FALSE(environment_seconds(name).has_value());
  CHECK_FALSE(environment_choice(name, {"shm"}).has_value());
}

TEST_CASE("a variable is read as text, a whole number, seconds or a choice") {
  {
    Setting const setting("any text");
    CHECK(*environment(name) == "any text");
  }
  {
    Setting const setting("8");
    CHECK(*environment_integer(name, 1) == 8);
    CHECK(*environment_integer(name, 8) == 8);
    CHECK(*environment_seconds(name) == 8.0);
  }
  {
    Setting const setting("-3");
    CHECK(*environment_integer(name, -3) == -3);
  }
  {
    Setting const setting("0.25");
    CHECK(*environment_seconds(name) == 0.25);
  }
  {
    Setting const setting("shm");
    CHECK(*environment_choice(name, {"mpi", "shm"}) == "shm");
  }
}

TEST_CASE("a number that is none, too small or too long is refused with the variable's name") {
  for (char const* value :
       {"eight", "8x", "1.5", " 8", "8 ", "+8", "0x10", "0", "-1", "99999999999999999999"}) {
    CAPTURE(value);
    Setting const setting(value);
    auto const message =
        std::string(name) + "=" + value + " is not a whole number of at least 1; mend or unset it";
    CHECK_THROWS_WITH_AS((void)environment_integer(name, 1), message.c_str(), ConfigError);
  }
}

TEST_CASE("seconds that are none, negative or without end are refused with the variable's name") {
  for (char const* value : {"soon", "1s", "-0.5", "inf", "nan", "1e999", "0.5 "}) {
    CAPTURE(value);
    Setting const setting(value);
    auto const message =
        std::string(name) + "=" + value + " is not a number of seconds; mend or unset it";
    CHECK_THROWS_WITH_AS((void)environment_seconds(name), message.c_str(), ConfigError);
  }
}

TEST_CASE("a choice that there is not is refused with the choices that there are") {
  Setting const setting("SHM");

  CHECK_THROWS_WITH_AS((void)environment_choice(name, {"mpi", "shm"}),
                       "TESSERA_TEST_SETTING=SHM is not one of mpi, shm; mend or unset it",
                       ConfigError);
}

TEST_SUITE_END();
