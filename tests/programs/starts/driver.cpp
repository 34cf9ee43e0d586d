// Programs whose Runtime begins or ends in trouble.
//
//     driver <scenario>
//
// tests/programs/starts/run.py starts it, and looks at what the processes say.

#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>

#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

ts::DistArray<double, 1> start() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  return ts::from_index<double>({40}, rows, [](auto i) { return 0.1 * double(i[0] % 7); });
}

bool is_second() {
  return ts::process() == ts::ProcessId{1};
}

void throws() {
  auto const u = start();
  if (is_second()) throw std::runtime_error("the program's own trouble");
  std::printf("%g\n", ts::sum(u).value());
}

void makes_a_mistake() {
  auto const u = start();
  if (is_second()) (void)u(40);
  std::printf("%g\n", ts::sum(u).value());
}

// Before anything is sent.
void functor_throws() {
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto const u = ts::from_index<double>({40}, rows, [](auto i) {
    if (is_second()) throw std::runtime_error("the functor's own trouble");
    return double(i[0]);
  });
  std::printf("%g\n", ts::sum(u).value());
}

// An error that was handled has no part in a later one.
void handles_and_throws() {
  try {
    (void)start()(40);
  } catch (ts::IndexError const&) {
  }
  throws();
}

std::map<std::string, std::function<void()>> const scenarios{
    {"throws", throws},
    {"makes_a_mistake", makes_a_mistake},
    {"functor_throws", functor_throws},
    {"handles_and_throws", handles_and_throws},
};

}  // namespace

// Catches outside of the Runtime.
int main(int argc, char** argv) {
  auto const found = scenarios.find(argc > 1 ? argv[1] : "");
  if (found == scenarios.end()) return 2;
  try {
    ts::Runtime runtime(argc, argv);
    found->second();
  } catch (std::exception const& error) {
    std::printf("caught: %s\n", error.what());
    std::fflush(stdout);
    return 1;
  }
  std::printf("done\n");
}
