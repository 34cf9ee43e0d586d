// flags: -fassociative-math -fno-signed-zeros
// expect-error: the same bits for any number of devices.*would let them differ
#include "tessera/base/half.hpp"
