/// @file
/// The smallest program outside the project; returns 0 if the library does what it should.

#include <iostream>

#include <tessera/tessera.hpp>

namespace ts = tessera;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  ts::NamedSharding const rows(ts::Mesh({{"x", ts::device_count()}}), ts::P("x"));
  auto u = ts::iota<double>({100}, rows);
  u = 0.5 * u + ts::roll(u, 1);
  double const total = ts::sum(u);
  std::cout << "the sum is " << total << '\n';
  return total == 1.5 * 4950 ? 0 : 1;
}
