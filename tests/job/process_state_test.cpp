#include "src/job/ipc/process_state.hpp"

#include <csignal>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/odd_locale.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/ipc/process_state");

TEST_CASE("this process lives, and has begun at some time") {
  auto const state = process_state(::getpid());
  REQUIRE(state);
  CHECK_FALSE(state->is_dead());
  CHECK_FALSE(state->is_held());
  CHECK(state->started > 0);
}

TEST_CASE("a number that no process has is that of no process") {
  CHECK_FALSE(process_state(-1));
  CHECK_FALSE(process_state(std::int64_t{1} << 40));
}

TEST_CASE("letters tell who is dead and who is held by a debugger") {
  for (char const letter : {'Z', 'X', 'x'}) CHECK(ProcessState{letter, 1}.is_dead());
  for (char const letter : {'R', 'S', 'D', 'T', 't', '?'})
    CHECK_FALSE(ProcessState{letter, 1}.is_dead());
  CHECK(ProcessState{'t', 1}.is_held());
  CHECK_FALSE(ProcessState{'T', 1}.is_held());
}

TEST_CASE("numbers of processes mean the same in one namespace") {
  CHECK(pid_namespace() != 0);
  CHECK(pid_namespace() == pid_namespace());
}

TEST_CASE("a process lives whatever locale the program has set") {
  test::OddLocale const odd;
  // Numbers below 1000 have no separator: take the next higher one.
  pid_t child = 0;
  while (child < 1000) {
    child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::pause();
    if (child >= 1000) break;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }

  auto const state = process_state(child);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);

  REQUIRE(state);
  CHECK_FALSE(state->is_dead());
  CHECK(state->started > 0);
}

TEST_SUITE_END();
