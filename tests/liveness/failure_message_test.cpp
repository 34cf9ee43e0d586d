#include "src/liveness/failure_message.hpp"

#include <cstdint>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "support/fake_job.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("liveness/failure_message");

namespace {

/// What process `to` throws when it is told of `error` by process `from`.
std::exception_ptr told_by(std::int64_t from, std::exception_ptr const& error) {
  return to_exception(ProcessId(from), failure_message(error));
}

}  // namespace

TEST_CASE("the first to give up is named") {
  auto const error = std::make_exception_ptr(Error("a disk is full"));

  CHECK_THROWS_WITH_AS(std::rethrow_exception(told_by(2, error)),
                       "process 2 gave up: a disk is full", PeerFailed);
}

TEST_CASE("a mismatch stays one") {
  auto const error = std::make_exception_ptr(Mismatch("they differ"));

  CHECK_THROWS_WITH_AS(std::rethrow_exception(told_by(2, error)), "process 2 gave up: they differ",
                       Mismatch);
}

TEST_CASE("who was released by another's failure passes its words on, however often") {
  auto const first = std::make_exception_ptr(Error("a disk is full"));
  auto const of_one = told_by(2, first);
  auto const of_zero = told_by(1, of_one);

  CHECK(failure_message(of_one).is_passed_on);
  CHECK_THROWS_WITH_AS(std::rethrow_exception(of_zero), "process 2 gave up: a disk is full",
                       PeerFailed);

  auto const mismatch = told_by(1, told_by(2, std::make_exception_ptr(Mismatch("they differ"))));
  CHECK_THROWS_WITH_AS(std::rethrow_exception(mismatch), "process 2 gave up: they differ",
                       Mismatch);
}

TEST_CASE("words alone do not make a failure one that was passed on") {
  auto const error = std::make_exception_ptr(PeerFailed("process 5 gave up: so I say"));

  CHECK_FALSE(failure_message(error).is_passed_on);
  CHECK_THROWS_WITH_AS(std::rethrow_exception(told_by(2, error)),
                       "process 2 gave up: process 5 gave up: so I say", PeerFailed);
}

TEST_CASE("an exception of no known type is told as that") {
  CHECK(failure_message(std::make_exception_ptr(5)).why.view() ==
        "an exception of an unknown type");
}

TEST_CASE("long words are cut, not lost") {
  auto const error = std::make_exception_ptr(Error(std::string(5000, 'x')));
  CHECK(failure_message(error).why.view() == std::string(899, 'x'));
}

TEST_CASE("a failure reaches every process of a job in a few steps, whoever has it") {
  for (std::int64_t const count : {1, 2, 3, 5, 8, 13}) {
    CAPTURE(count);
    FakeJob fake(count);
    for (std::int64_t first = 0; first < count; ++first) {
      std::set<ProcessId> told{ProcessId(first)};
      for (std::int64_t step = 0; step < 8; ++step)
        for (auto const process : std::set<ProcessId>(told)) {
          Job const job(fake[static_cast<std::size_t>(process.value())], 1);
          told.merge(processes_to_tell({}, job));
        }
      CHECK(std::ssize(told) == count);
    }
  }
}

TEST_SUITE_END();
