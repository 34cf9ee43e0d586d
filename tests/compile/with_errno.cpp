// A note, which is no error with -Werror either.
// flags: -fmath-errno -Werror
// expect-error: (note|warning): .*Tessera's loops are slower without -fno-math-errno
// -fno-trapping-math.*TESSERA_ALLOW_SLOW_LOOPS expect-error: the end refuse-output: error: .*loops
// are slower
#include "tessera/base/half.hpp"
#error "the end"
