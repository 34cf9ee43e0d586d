#include <iostream>

#include <tessera/tessera.hpp>
namespace ts = tessera;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);  // MPI, Kokkos, devices; one per process

  ts::Mesh mesh({{"x", ts::device_count()}});  // every device of the job in a row
  ts::NamedSharding rows(mesh, ts::P("x"));    // dimension 0 is cut along axis "x"
  auto u = ts::from_index<double>({34}, rows, [](auto i) { return i[0] == 17 ? 1.0 : 0.0; });

  auto inner = ts::range(1, -1), left = ts::range(0, -2), right = ts::from(2);
  auto step = [&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); };
  auto why = ts::explain(step);  // one step, and what it sent
  ts::iterate(9, step);          // nine more: a plain loop's bits, fewer messages

  double total = ts::sum(u);        // same bits for any number of devices
  auto picture = ts::visualize(u);  // who owns what
  if (ts::process() == ts::ProcessId{0}) std::cout << why << picture << "heat: " << total << '\n';
}
