#include "src/formulas/loops.hpp"

namespace tessera::detail {
namespace {

[[nodiscard]] ProcessorLoops const& best_loops() {
  static ProcessorLoops const& best = *loops_of_this_processor().front();
  return best;
}

}  // namespace

void compute(Function function, float const* arguments, float* values, std::int64_t count) {
  best_loops().floats.one[static_cast<std::size_t>(function)](arguments, values, count);
}
void compute(Function function, double const* arguments, double* values, std::int64_t count) {
  best_loops().doubles.one[static_cast<std::size_t>(function)](arguments, values, count);
}
void compute(Function2 function, float const* first, float const* second, float* values,
             std::int64_t count) {
  best_loops().floats.two[static_cast<std::size_t>(function)](first, second, values, count);
}
void compute(Function2 function, double const* first, double const* second, double* values,
             std::int64_t count) {
  best_loops().doubles.two[static_cast<std::size_t>(function)](first, second, values, count);
}

}  // namespace tessera::detail
