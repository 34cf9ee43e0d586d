#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/job/launch.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/host_list");

namespace {

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("lists of hosts are expanded in their order, with their leading zeroes") {
  CHECK(expand_hosts("node001") == Names{"node001"});
  CHECK(expand_hosts("node001,host2") == Names{"node001", "host2"});
  CHECK(expand_hosts("n[1-3,07],gpu2") == Names{"n1", "n2", "n3", "n07", "gpu2"});
  CHECK(expand_hosts("n[08-11]") == Names{"n08", "n09", "n10", "n11"});
  CHECK(expand_hosts("n[9-10]") == Names{"n9", "n10"});
  CHECK(expand_hosts("r[1-2]n[0-1]-ib") == Names{"r1n0-ib", "r1n1-ib", "r2n0-ib", "r2n1-ib"});
  CHECK(expand_hosts("node[001-015],host2").size() == 16);
  CHECK(expand_hosts("node[001,007-015],host2")[1] == "node007");
}

TEST_CASE("a list of hosts that is none is quoted") {
  for (auto const* list : {"", ",", "a,", "n[1-3", "n1-3]", "n[]", "n[1,]", "n[3-1]", "n[a-b]",
                           "n[1-2-3]", "n[[1]]", "n[-1]", "n[0-1000000]"}) {
    CAPTURE(list);
    CHECK_THROWS_AS((void)expand_hosts(list), ConfigError);
  }
  CHECK_THROWS_WITH_AS((void)expand_hosts("n[3-1]"),
                       "the list of hosts 'n[3-1]' has the range 3-1, which runs backwards; "
                       "expected one as n[1-3,07],gpu2",
                       ConfigError);
}

TEST_CASE("of the first host alone no others are made") {
  CHECK(first_host("n[07-1000000]") == "n07");
  CHECK(first_host("gpu2,n[1-3]") == "gpu2");
  CHECK_THROWS_AS((void)first_host(""), ConfigError);
}

TEST_CASE("an entry with very many brackets is refused, and quoted in short") {
  std::string list = "n";
  for (int k = 0; k < 40'000; ++k) list += "[1]";

  CHECK(expand_hosts(list.substr(0, 1 + 3 * 16)) == Names{"n1111111111111111"});
  CHECK_THROWS_WITH_AS((void)expand_hosts(list),
                       doctest::Contains("[1][... (120001 bytes)' has an entry with more than 16 "
                                         "pairs of brackets"),
                       ConfigError);
  CHECK_THROWS_WITH_AS((void)expand_hosts("n[\x1b]"),
                       doctest::Contains("'n[\\x1b]' has '\\x1b' where a number belongs"),
                       ConfigError);
}

TEST_CASE("a range may end at the largest number") {
  CHECK(expand_hosts("n[9223372036854775806-9223372036854775807]") ==
        Names{"n9223372036854775806", "n9223372036854775807"});
}

TEST_SUITE_END();
