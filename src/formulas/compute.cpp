#include "src/formulas/loops.hpp"

namespace tessera::detail {
namespace {

[[nodiscard]] ProcessorLoops const& best_loops() {
  static ProcessorLoops const& best = *loops_of_this_processor().front();
  return best;
}

}  // namespace

void compute(Function function, float* arguments, std::int64_t count) {
  best_loops().floats.one[static_cast<std::size_t>(function)](arguments, count);
}
void compute(Function function, double* arguments, std::int64_t count) {
  best_loops().doubles.one[static_cast<std::size_t>(function)](arguments, count);
}
void compute(Function2 function, float* first, float const* second, std::int64_t count) {
  best_loops().floats.two[static_cast<std::size_t>(function)](first, second, count);
}
void compute(Function2 function, double* first, double const* second, std::int64_t count) {
  best_loops().doubles.two[static_cast<std::size_t>(function)](first, second, count);
}

}  // namespace tessera::detail
