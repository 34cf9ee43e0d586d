// The half of the program that g++ compiles, with main.

#include <iostream>

#include "step.hpp"

namespace ts = tessera;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  ts::Mesh const mesh({{"x", ts::device_count()}});
  auto u = ts::iota<double>({12}, ts::NamedSharding(mesh, ts::P("x")));
  ts::DistArray<double, 2> v({4, 12}, ts::NamedSharding(mesh, ts::P(ts::none, "x")));
  v = u;
  double const here = step(u, v);
  double const there = step_of_other_object(u, v);

  using Statements = Slots<double>;
  auto const answer = [](bool yes) { return yes ? "filled" : "empty"; };
  std::cout << "copy of " << linked_copy<double>()                                      //
            << ", kernels built: " << (ts::detail::gpu_kernels_built() ? "yes" : "no")  //
            << ", assignment " << answer(Statements::assignment())                      //
            << ", reduction " << answer(Statements::reduction())                        //
            << ", fold " << answer(Statements::fold())                                  //
            << ", sums " << here << ' ' << there << '\n';
}
