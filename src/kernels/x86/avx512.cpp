#include "src/kernels/formulas/make_loops.hpp"
#include "src/kernels/products/make_loops.hpp"
#include "src/kernels/x86/kinds.hpp"

namespace tessera {
namespace {

struct Avx512 {
  template <class F, class... Arguments>
  [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"), gnu::flatten,
    gnu::noinline]] static void
  run(Arguments... arguments) {
    F::run(arguments...);
  }
};

constexpr auto formulas = detail::make_formula_loops<Avx512>();
constexpr auto products = make_product_loops<Avx512, 12, 128>();

}  // namespace

// The random numbers of AVX2 are written for its vectors by hand; wider ones have no loops yet.
ProcessorKernels kernels_for_avx512() {
  return {"AVX-512", &formulas, &products, kernels_for_avx2().random};
}

}  // namespace tessera
