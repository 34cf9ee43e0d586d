/// @file
/// Runs statements in phases. tests/checks/life.py counts the functions that take part in each.
///
/// usage: statement_life STATEMENTS

#include <cstdint>
#include <cstdlib>

#include <tessera/tessera.hpp>

namespace ts = tessera;

/// Callgrind writes what it has counted, and begins again, where this is called.
extern "C" __attribute__((noinline)) void end_of_phase() {
  asm volatile("");
}

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv, {.devices = 2});
  std::int64_t const statements = argc > 1 ? std::atoll(argv[1]) : 10;
  std::int64_t const n = 2 * statements + 100;
  ts::Mesh mesh({{"x", ts::device_count()}});
  auto u = ts::zeros<double>({n}, ts::NamedSharding(mesh, ts::P("x")));
  // Another `end` makes another statement, with a plan of its own.
  auto const run = [&](std::int64_t end) {
    auto const inner = ts::range(1, end), left = ts::range(0, end - 1),
               right = ts::range(2, end + 1);
    u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right);
  };
  for (int i = 0; i < 4; ++i) run(n - 1);
  ts::synchronize();

  end_of_phase();
  for (std::int64_t i = 0; i < statements; ++i) run(n - 1);
  ts::synchronize();

  end_of_phase();
  for (std::int64_t i = 0; i < statements; ++i) run(n - 2 - i);
  ts::synchronize();
  end_of_phase();
}
