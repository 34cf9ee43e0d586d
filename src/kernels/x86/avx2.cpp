#include "src/kernels/formulas/make_loops.hpp"
#include "src/kernels/products/make_loops.hpp"
#include "src/kernels/random/make_loops.hpp"
#include "src/kernels/x86/kinds.hpp"
#include "src/kernels/x86/random.hpp"

namespace tessera {
namespace {

struct Avx2 {
  template <class F, class... Arguments>
  [[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] static void run(Arguments... arguments) {
    F::run(arguments...);
  }
};

constexpr auto formulas = detail::make_formula_loops<Avx2>();
constexpr auto products = make_product_loops<Avx2, 6, 64>();
constexpr auto random_numbers =
    detail::make_random_loops<Avx2, detail::WriteWordsByAvx2, detail::WriteUniformByAvx2>();

}  // namespace

ProcessorKernels kernels_for_avx2() {
  return {"AVX2", &formulas, &products, &random_numbers};
}

}  // namespace tessera
