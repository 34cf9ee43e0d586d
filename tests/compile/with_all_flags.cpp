// expect-error: the end
// refuse-output: loops are slower
#include "tessera/base/half.hpp"
#error "the end"
