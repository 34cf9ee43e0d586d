#include "src/job/launched_processes.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/file_bytes.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/ipc/process_state.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/launched_processes");

namespace {

std::string job_of_this_test() {
  return "tessera-test-" + std::to_string(::getpid());
}

LaunchFacts facts() {
  LaunchFacts own;
  own.launcher = Launcher::pmix;
  own.process = 0;
  own.job = job_of_this_test();
  return own;
}

// Waits until `is_so()`, or for as long as only a test that hangs would need.
template <class IsSo>
void wait_until(IsSo const& is_so) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!is_so() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

/// A process of that number of the job, which does nothing.
class Child {
 public:
  Child(int number, std::vector<std::string> command, std::string const& job = job_of_this_test()) {
    std::string name = "PMIX_NAMESPACE=" + job;
    std::string rank = "PMIX_RANK=" + std::to_string(number);
    std::array<char*, 3> environment{name.data(), rank.data(), nullptr};
    std::vector<char*> words;
    for (auto& word : command) words.push_back(word.data());
    words.push_back(nullptr);
    REQUIRE(::posix_spawn(&pid_, words.front(), nullptr, nullptr, words.data(),
                          environment.data()) == 0);
    wait_for(name);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(Child const&) = delete;
  Child& operator=(Child const&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void stop() const {
    ::kill(pid_, SIGSTOP);
    ::waitpid(pid_, nullptr, WUNTRACED);
  }

 private:
  // posix_spawn returns while the child still has this program's memory: for a moment /proc shows
  // the variables of this program, then none, then its own.
  void wait_for(std::string const& variable) const {
    auto const file = "/proc/" + std::to_string(pid_) + "/environ";
    wait_until(
        [&] { return bytes_of_file(file).value_or("").find(variable) != std::string::npos; });
  }

  pid_t pid_ = 0;
};

bool has_ended(std::int64_t pid) {
  auto const state = process_state(pid);
  return !state || state->is_dead();
}

// Ends a process that is no child of this one, and waits until it has ended.
void end_process(std::int64_t pid) {
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  wait_until([&] { return has_ended(pid); });
}

std::vector<std::string> const sleeps{"/bin/sleep", "60"};

std::vector<LaunchedProcess> seen() {
  return launched_processes(facts());
}

}  // namespace

TEST_CASE("the processes of the job are found, and those of another one are not") {
  Child const third(3, sleeps);
  Child const first(1, sleeps);
  Child const other(2, sleeps, "another job");
  third.stop();

  auto const found = seen();

  REQUIRE(found.size() == 2);
  CHECK(found[0].number == 1);
  CHECK(found[0].pid == first.pid());
  CHECK_FALSE(found[0].state.is_stopped());
  CHECK_FALSE(found[0].progress);
  CHECK(found[1].number == 3);
  CHECK(found[1].state.is_stopped());
}

TEST_CASE("of a shell and the program behind it, the program counts") {
  Child const shell(1, {"/bin/sh", "-c", "/bin/sleep 60; exit 0"});
  // The shell starts it in its own time.
  std::vector<LaunchedProcess> found;
  wait_until([&] {
    found = seen();
    return found.at(0).pid != shell.pid();
  });

  CHECK(found[0].state.parent == shell.pid());
  end_process(found[0].pid);  // the next test would find two of that number
}

TEST_CASE("a program that another one starts does not show its progress") {
  ProgressMark const mark;
  mark.show({5, 2, 77});
  Child const child(1, sleeps);

  CHECK_FALSE(seen().at(0).progress);
}

// Under a launcher this process shows its own progress.
TEST_CASE("progress is what a mark shows" * doctest::skip(launched_by_mpi())) {
  ProgressMark const mark;
  CHECK(progress_of(::getpid()) == Progress{});
  mark.show({5, 2, 77});
  CHECK(progress_of(::getpid()) == Progress{5, 2, 77});
}

TEST_CASE("memory of the mark's name that another program could cut short is no mark" *
          doctest::skip(launched_by_mpi())) {
  Progress const made_up{5, 2, 77};
  for (auto const* const name : {"tessera-start", "tessera-started"}) {
    Descriptor const memory(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
    REQUIRE(::pwrite(memory.get(), &made_up, sizeof made_up, 0) == sizeof made_up);
    CHECK_FALSE(progress_of(::getpid()));
  }
}

// A file system that is taken out of the tree of files shows a pipe in it like memory. Whoever
// opens a pipe without a writer waits for one.
TEST_CASE("a pipe of the mark's name is not opened" * doctest::skip(::geteuid() != 0)) {
  auto const folder = "/tmp/tessera-pipe." + std::to_string(::getpid());
  Child const child(1,
                    {"/usr/bin/unshare", "-m", "/bin/sh", "-c",
                     "mkdir " + folder + " && mount -t tmpfs none " + folder + " && cd " + folder +
                         " && mkfifo memfd:tessera-start && exec 8<>memfd:tessera-start"
                         " 9<memfd:tessera-start 8<&- && cd / && umount -l " +
                         folder + " && rmdir " + folder + " && exec /bin/sleep 60"});
  auto const pipe = "/proc/" + std::to_string(child.pid()) + "/fd/9";
  std::error_code error;
  auto const shows_pipe = [&] {
    return std::filesystem::read_symlink(pipe, error) == "/memfd:tessera-start" && !error;
  };
  // What the shell starts before is of the job, too.
  auto const sleeps_at_last = [&] {
    return bytes_of_file("/proc/" + std::to_string(child.pid()) + "/comm") == "sleep\n";
  };
  wait_until([&] { return sleeps_at_last() || has_ended(child.pid()); });
  if (!shows_pipe()) {
    MESSAGE("skipped: no file system may be mounted here");
    return;
  }

  auto const found = seen();

  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].progress);
}

TEST_CASE("a process of another user is none of the job" * doctest::skip(::geteuid() != 0)) {
  Child const child(1, {"/usr/bin/setpriv", "--reuid=65534", "--clear-groups", "/bin/sleep", "60"});
  auto const folder = "/proc/" + std::to_string(child.pid());
  struct stat about {};
  wait_until([&] { return ::stat(folder.c_str(), &about) == 0 && about.st_uid == 65534; });
  REQUIRE(about.st_uid == 65534);

  CHECK(seen().empty());
}

TEST_CASE("without a launcher's variables no process is found") {
  CHECK(launched_processes({}).empty());
}

TEST_SUITE_END();
