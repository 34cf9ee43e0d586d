#include "src/plan/costs.hpp"

#include <string>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/setting.hpp"

using namespace tessera;
using test::Setting;

TEST_SUITE_BEGIN("plan/costs");

TEST_CASE("numbers of the variable replace the usual ones") {
  Costs const usual;
  Setting const setting("TESSERA_COSTS", "network_bytes=1e8,multiplications=3");
  auto const costs = Costs::from_environment();

  CHECK(costs.network_bytes == 1e8);
  CHECK(costs.multiplications == 3);
  CHECK(costs.received_bytes == usual.received_bytes);
  CHECK(costs.messages == usual.messages);
}

TEST_CASE("what is no list of numbers is refused, with the names that there are") {
  for (std::string const wrong :
       {"cheap", "messages", "messages=", "messages=0", "messages=-1", "messages=nan",
        "messages=inf", "messages=1e19", "messages=1e999", "messages=1 ", "messages=1,",
        ",messages=1", "=1", "messages=1;received_bytes=2"}) {
    CAPTURE(wrong);
    Setting const setting("TESSERA_COSTS", wrong);
    CHECK_THROWS_WITH_AS((void)Costs::from_environment(), doctest::Contains("network_bytes"),
                         ConfigError);
  }
}

TEST_SUITE_END();
