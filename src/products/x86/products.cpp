// Products for x86-64 with AVX2 and with AVX-512. The attribute stands at each tile, not at the
// file: inline functions of other headers must not be compiled for processors that may be absent.

#include <vector>

#include "src/formulas/x86/processor.hpp"
#include "src/products/make_products.hpp"

namespace tessera {
namespace {

struct Avx2 {
  template <class F, class... Arguments>
  [[gnu::target("avx2,fma"), gnu::flatten, gnu::noinline]] static void run(Arguments... arguments) {
    F::run(arguments...);
  }
};
struct Avx512 {
  template <class F, class... Arguments>
  [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"), gnu::flatten,
    gnu::noinline]] static void
  run(Arguments... arguments) {
    F::run(arguments...);
  }
};

constexpr ProcessorProducts products_for_avx2 = products_with_tiles<Avx2, 6, 64>("AVX2");
constexpr ProcessorProducts products_for_avx512 = products_with_tiles<Avx512, 12, 128>("AVX-512");

std::vector<ProcessorProducts const*> find_products() {
  std::vector<ProcessorProducts const*> found;
  if (detail::has_avx512()) found.push_back(&products_for_avx512);
  if (detail::has_avx2()) found.push_back(&products_for_avx2);
  found.push_back(&products_for_any_processor);
  return found;
}

}  // namespace

std::span<ProcessorProducts const* const> products_of_this_processor() {
  static auto const found = find_products();
  return found;
}

}  // namespace tessera
