// A program that forks while it has a Runtime.
//
//     driver <scenario>
//
// Every process forks one child between two computations. The child does what the scenario says,
// its parent waits for it and goes on. tests/scenarios/run.py starts it.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <tessera/tessera.hpp>
#include <unistd.h>

namespace ts = tessera;

namespace {

constexpr std::int64_t cells = 40;

ts::DistArray<double, 1> start() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  return ts::from_index<double>({cells}, rows, [](auto i) { return 0.1 * double(i[0] % 7); });
}

void step(ts::DistArray<double, 1>& u) {
  u(ts::range(1, -1)) = 0.5 * (u(ts::range(0, -2)) + u(ts::from(2)));
}

template <class Call>
bool is_refused(Call const& call) {
  try {
    call();
  } catch (ts::UsageError const& error) {
    return std::string(error.what()).find("forked") != std::string::npos;
  }
  return false;
}

// Exit code of a child that calls Tessera in all ways.
int call_all(ts::DistArray<double, 1>& u) {
  std::array const refused{
      is_refused([&] { step(u); }),
      is_refused([&] { (void)ts::sum(u).value(); }),
      is_refused([&] { (void)u.read({0}); }),
      is_refused([&] { (void)start(); }),
      is_refused([&] { ts::iterate(3, [&] { step(u); }); }),
      is_refused([] { (void)ts::process_count(); }),
      is_refused([] { ts::synchronize(); }),
      is_refused([] { ts::Runtime const another; }),
  };
  for (std::size_t i = 0; i < refused.size(); ++i)
    if (!refused[i]) {
      std::printf("call %zu was not refused\n", i);
      return 1;
    }
  return 0;
}

// Whether the child ended as the scenario has it.
bool ended_as_it_should(std::string const& scenario, pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) return false;
  if (scenario == "throws") return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::string const scenario = argv[1];
  ts::Runtime runtime(argc, argv);
  auto u = start();
  ts::fence(u);
  ts::fence(u);
  for (int i = 0; i < 10; ++i) step(u);
  std::fflush(stdout);  // or the child prints it again
  auto const child = fork();
  if (child == 0) {
    if (scenario == "calls") return call_all(u);
    if (scenario == "exits") std::exit(0);
    if (scenario == "throws") throw std::runtime_error("the child gives up");
    if (scenario == "execs") return execl("/bin/true", "true", nullptr);
    return 0;
  }
  if (!ended_as_it_should(scenario, child)) return 1;
  for (int i = 0; i < 10; ++i) step(u);
  std::printf("sum %.17g\ndone\n", ts::sum(u).value());
}
