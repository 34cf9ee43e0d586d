// The other half of the program.

#include "step.hpp"

double step_of_other_object(tessera::DistArray<double, 1>& u,
                            tessera::DistArray<double, 2> const& v) {
  return linked_copy<double>() == nullptr ? 0 : step(u, v);
}
