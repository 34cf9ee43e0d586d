// A program whose statements are looked at from outside: by TESSERA_STRICT, TESSERA_REPORT and
// TESSERA_TRACE. run.py starts it and reads what comes out.
//
//     driver <scenario>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/runtime/budget.hpp"
#include "tessera/runtime/runtime.hpp"

namespace ts = tessera;
using namespace std::chrono_literals;

namespace {

constexpr int steps = 20;

ts::NamedSharding rows(std::int64_t devices) {
  return {ts::Mesh({{"x", devices}}), ts::P("x")};
}

void say(char const* what) {
  if (ts::process() == ts::ProcessId{0}) std::printf("%s\n", what);
}

void heat() {
  auto const inner = ts::range(1, -1), left = ts::range(0, -2), right = ts::from(2);
  auto u = ts::iota<double>({1002}, rows(ts::device_count()));
  for (int i = 0; i < steps; ++i) {
    u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);  // the step
    u(0) = 1.0;
  }
}

template <class Body>
void expect(char const* what, bool refused, Body const& body) {
  bool thrown = false;
  try {
    body();
  } catch (ts::BudgetExceeded const& error) {
    thrown = true;
    say(error.what());
  }
  std::printf("%s: %s\n", what, thrown == refused ? "as expected" : "WRONG");
}

// Needs two devices at least.
void gathers() {
  auto const all = ts::device_count();
  auto v = ts::zeros<double>({40}, rows(all));
  auto const other = ts::iota<double>({40}, rows(all - 1));
  auto const inner = ts::range(1, -1), left = ts::range(0, -2);
  bool const strict = std::getenv("TESSERA_STRICT") != nullptr;
  expect("halo", false, [&] { v(inner) = 1 * v(left); });
  expect("gather", strict, [&] { v(ts::all) = 1 * other; });
  expect("gather again", strict, [&] { v(ts::all) = 1 * other; });
  expect("reshard", false, [&] { v = ts::reshard(other, rows(all)); });
  expect("to_host", false, [&] { (void)other.to_host(); });
  expect("announced", false, [&] {
    ts::CommunicationBudget const budget({.gathers = 1});
    v(ts::all) = 1 * other;
  });
  expect("budget of messages only", strict, [&] {
    ts::CommunicationBudget const budget({.messages = 100});
    v(ts::all) = 1 * other;
  });
}

// The processes reach one statement at different places of the program.
void branches() {
  auto u = ts::iota<double>({40}, rows(ts::device_count()));
  if (ts::process() == ts::ProcessId{0})
    u(ts::all) = u(ts::all) + 1.0;
  else
    u(ts::all) = u(ts::all) + 1.0;
}

// The last process fails while the others go on, once they have slept.
void fails(std::chrono::seconds sleep) {
  heat();
  ts::synchronize();
  if (ts::process().value() == ts::process_count() - 1) throw std::runtime_error("enough");
  std::this_thread::sleep_for(sleep);
  for (int i = 0; i < 1000; ++i) heat();
}

void run(int argc, char** argv) {
  ts::Runtime const runtime(argc, argv);
  std::string_view const scenario = argc > 1 ? argv[1] : "";
  if (scenario == "heat") heat();
  if (scenario == "gathers") gathers();
  if (scenario == "branches") branches();
  if (scenario == "fails" || scenario == "fails-caught") fails(0s);
  if (scenario == "fails-long-before") fails(6s);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "fails-caught") {
    try {
      run(argc, argv);
    } catch (std::exception const&) {
      return 1;
    }
  }
  run(argc, argv);
  std::puts("done");
  return 0;
}
