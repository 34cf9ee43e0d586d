// flags: -ftrapping-math
// expect-error: (note|warning): .*Tessera's loops are slower without -fno-math-errno
// -fno-trapping-math.*TESSERA_ALLOW_SLOW_LOOPS expect-error: the end
#include "tessera/base/half.hpp"
#error "the end"
