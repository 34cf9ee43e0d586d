// NumPy's files hold numbers.
// expect-error: of structs, save and load one member at a time

#include "tessera/io/npy.hpp"

struct Particle {
  double mass;
  int number;
};

void save(tessera::DistArray<Particle, 1> const& u) {
  tessera::save_npy("u.npy", u);
}
