#include "src/kernels/formulas/make_loops.hpp"
#include "src/kernels/processors.hpp"
#include "src/kernels/products/make_loops.hpp"
#include "src/kernels/random/make_loops.hpp"

namespace tessera {
namespace {

struct AnyProcessor {
  template <class F, class... Arguments>
  [[gnu::noinline]] static void run(Arguments... arguments) {
    F::run(arguments...);
  }
};

constexpr auto formulas = detail::make_formula_loops<AnyProcessor>();
constexpr auto products = make_product_loops<AnyProcessor, 6, 64>();
constexpr auto random_numbers = detail::make_random_loops<AnyProcessor>();

}  // namespace

ProcessorKernels kernels_for_any_processor() {
  return {"any processor", &formulas, &products, &random_numbers};
}

}  // namespace tessera
