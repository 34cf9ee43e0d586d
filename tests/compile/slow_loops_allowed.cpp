// flags: -fmath-errno -ftrapping-math -DTESSERA_ALLOW_SLOW_LOOPS
// expect-error: the end
// refuse-output: loops are slower
#include "tessera/base/half.hpp"
#error "the end"
