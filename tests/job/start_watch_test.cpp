#include "src/job/start_watch.hpp"

#include <cstdio>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "support/captured.hpp"
#include "support/setting.hpp"

using namespace tessera;
using test::Setting;

TEST_SUITE_BEGIN("job/start_watch");

namespace {

constexpr std::int64_t communicator = 7;

/// This very process in the place of another one: it is alive.
LaunchedProcess living(std::int64_t number, std::optional<Progress> progress, char letter = 'S') {
  LaunchedProcess process{number, ::getpid(), *process_state(::getpid()), progress};
  process.state.letter = letter;
  return process;
}

std::optional<std::int64_t> same(std::int64_t number) {
  return number;
}

/// What process `rank` of four finds at the last of so many looks.
std::optional<std::string> found(std::int64_t rank, std::vector<LaunchedProcess> const& seen,
                                 int looks = 1) {
  StartWatch watch({communicator, rank, 0}, 4, [&] { return seen; });
  watch.next_step();
  watch.begin_wait();
  std::optional<std::string> reason;
  for (int look = 0; look < looks; ++look) reason = watch.look(same);
  return reason;
}

/// What it prints meanwhile.
std::string printed(std::int64_t rank, std::vector<LaunchedProcess> const& seen, int looks = 1) {
  return test::captured([&] { (void)found(rank, seen, looks); }).errors;
}

Progress at(std::int64_t rank, std::int64_t step) {
  return {communicator, rank, step};
}

std::string me() {
  return std::to_string(::getpid());
}

}  // namespace

TEST_CASE("a process that is stopped has failed after the silence, and not before") {
  Setting const silence("TESSERA_SILENCE", "1");
  std::vector const seen{living(1, {}, 'T')};

  CHECK_FALSE(found(0, seen, 2));
  CHECK(found(0, seen, 3) ==
        "process 1 (pid " + me() + ") has given no sign for 1 s (it is stopped)");
}

TEST_CASE("a process that lives, or that a debugger holds, has not failed, however late it is") {
  Setting const silence("TESSERA_SILENCE", "1");
  Setting const stall("TESSERA_STALL", "1000");
  for (auto const letter : {'R', 'S', 'D', 't', '?'})
    CHECK_FALSE(found(0, {living(1, {}, letter)}, 100));
}

TEST_CASE("a process that is gone has died") {
  auto seen = std::vector{living(1, {})};
  seen[0].state.started += 1;  // another one has its number now

  CHECK(found(0, seen) == "process 1 (pid " + me() + ") has died");
}

TEST_CASE("who is late is named once, by the first process of the host that waits") {
  Setting const stall("TESSERA_STALL", "1");
  std::vector const seen{living(0, at(0, 1)), living(1, {}), living(2, at(2, 0)),
                         living(3, at(3, 1))};

  CHECK(printed(0, seen, 1).empty());
  CHECK(printed(0, seen, 9)
            .ends_with("warning: process 0 waits for all processes to make their Runtime, and has "
                       "done so for 1 s; "
                       "process 1 (pid " +
                       me() + "), process 2 (pid " + me() +
                       ") may only be late, so the wait goes on\n"));
  CHECK(printed(3, seen, 9).empty());
}

TEST_CASE("processes that this host does not show are named where all that it shows are there") {
  Setting const stall("TESSERA_STALL", "1");

  auto const words = printed(0, {living(1, at(1, 1))}, 2);

  CHECK(words.find("one that this host does not show (process 2, process 3)") != words.npos);
}

TEST_CASE("a process of another communicator is no member, or not there yet") {
  Setting const silence("TESSERA_SILENCE", "0");
  auto const other = living(9, Progress{communicator + 1, 1, 50}, 'T');
  StartWatch watch({communicator, 0, 0}, 4, [&] { return std::vector{other}; });
  auto const no_member = [](std::int64_t) { return std::optional<std::int64_t>(); };

  for (int look = 0; look < 5; ++look) {
    CHECK_FALSE(watch.look(no_member));
    CHECK_FALSE(watch.look({}));
  }
  (void)watch.look(same);
  CHECK(watch.look(same));
}

TEST_CASE("a setting that cannot be read is not the watch's to refuse") {
  Setting const silence("TESSERA_SILENCE", "soon");
  CHECK_FALSE(found(0, {living(1, {}, 'T')}, 5));
}

TEST_SUITE_END();
