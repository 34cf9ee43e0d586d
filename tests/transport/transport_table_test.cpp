#include "src/transport/transport_table.hpp"

#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "src/base/text.hpp"
#include "src/transport/mpi/backend.hpp"
#include "src/transport/ucx/backend.hpp"

#include "support/fake_job.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("transport/transport_table");

TEST_CASE("the table has each transport once, in the order of the routes") {
  auto const table = transport_table();
  REQUIRE_FALSE(table.empty());
  for (std::size_t i = 0; i < table.size(); ++i)
    CHECK(static_cast<std::size_t>(table[i].route) == i);
}

TEST_CASE("a transport's traits are those of its entry") {
  for (auto const& entry : transport_table()) {
    auto const* const traits = entry.traits();
    if (entry.option == nullptr) CHECK(traits != nullptr);
    CHECK(is_built(entry.route) == (traits != nullptr));
    if (traits == nullptr) continue;
    CHECK(traits->route == entry.route);
    CHECK(std::string(traits->name) == to_string(entry.route));
    CHECK(traits->within_process != is_between_processes(entry.route));
  }
}

TEST_CASE("what is preferred at a distance can reach so far") {
  for (auto const distance : {Distance::process, Distance::host, Distance::job}) {
    REQUIRE_FALSE(preferred_routes(distance).empty());
    for (auto const route : preferred_routes(distance)) {
      auto const table = transport_table();
      auto const entry = std::find_if(table.begin(), table.end(),
                                      [&](auto const& one) { return one.route == route; });
      REQUIRE(entry != table.end());
      if (auto const* const traits = entry->traits()) CHECK(reaches(*traits, distance));
    }
  }
}

TEST_CASE("routes of GPUs are no transports, and no build leaves them out") {
  CHECK(is_built(Route::peer));
  CHECK(is_built(Route::nccl));
  for (auto const route : optional_routes()) CHECK(route <= Route::mpi);
}

TEST_CASE("what this process finds is told for each transport, with how that is known") {
  FakeJob job(1);
  auto const facts = transport_facts(job[0]);

  REQUIRE(facts.size() == transport_table().size());
  CHECK(facts[0].route == Route::local);
  CHECK(facts[0].is_there);
  CHECK(facts[0].why == "devices of one process share its memory");
  for (auto const& one : facts) {
    CHECK_FALSE(one.why.empty());
    if (one.traits == nullptr) CHECK_FALSE(one.is_there);
  }
}

TEST_CASE("a process alone makes no transport of MPI") {
  FakeJob job(1);
  Refused refused;
  CHECK(make_mpi_transport(job[0]) == nullptr);
  CHECK(make_ucx_transport(job[0], own_secret(), refused) == nullptr);
}

TEST_SUITE_END();
