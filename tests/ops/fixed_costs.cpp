#include <cstdlib>

// Which plans of products the tests of this program assert follows from these costs, by which sums
// pass from device to device although matrices are small. The environment may have others.
namespace {

[[maybe_unused]] int const is_set = ::setenv("TESSERA_COSTS", "read_cells=1e15,messages=1e15", 0);

}  // namespace
