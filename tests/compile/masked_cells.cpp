// Cells that a mask selects are only written: how many they are is known when the program runs.
// expect-error: u\(mask\) can only be written: write u\(mask\) = v, not v\(mask\)
// expect-error: u\(mask\) can only be written: write where\(mask, u, other\) for an array

#include "tessera/array/operators.hpp"

void fill(tessera::DistArray<double, 1>& u, tessera::DistArray<double, 1>& v) {
  u(u < 0.0) = v(u < 0.0);
}
void select(tessera::DistArray<double, 1>& v) {
  tessera::DistArray x = v(v < 0.0);
}
