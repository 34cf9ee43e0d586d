// Loops for x86-64 with AVX2 and with AVX-512. The attribute stands at each function, not at the
// file: inline functions of other headers must not be compiled for processors that may be absent.

#include "src/formulas/loops.hpp"

#include <vector>

#include "src/formulas/make_loops.hpp"
#include "src/formulas/x86/processor.hpp"

namespace tessera::detail {
namespace {

struct Avx2 {
  template <class F, class R>
  [[gnu::target("avx2,fma"), gnu::flatten]] static void run(R const* x, R* values,
                                                            std::int64_t count) {
    compute_all<F>(x, values, count);
  }
  template <class F, class R>
  [[gnu::target("avx2,fma"), gnu::flatten]] static void run2(R const* x, R const* y, R* values,
                                                             std::int64_t count) {
    compute_all<F>(x, y, values, count);
  }
};
struct Avx512 {
  template <class F, class R>
  [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"),
    gnu::flatten]] static void
  run(R const* x, R* values, std::int64_t count) {
    compute_all<F>(x, values, count);
  }
  template <class F, class R>
  [[gnu::target("avx512f,avx512dq,avx512bw,avx512vl,fma,prefer-vector-width=512"),
    gnu::flatten]] static void
  run2(R const* x, R const* y, R* values, std::int64_t count) {
    compute_all<F>(x, y, values, count);
  }
};

constexpr ProcessorLoops loops_for_avx2 = loops_of<Avx2>("AVX2");
constexpr ProcessorLoops loops_for_avx512 = loops_of<Avx512>("AVX-512");

std::vector<ProcessorLoops const*> find_loops() {
  std::vector<ProcessorLoops const*> found;
  if (has_avx512()) found.push_back(&loops_for_avx512);
  if (has_avx2()) found.push_back(&loops_for_avx2);
  found.push_back(&loops_for_any_processor);
  return found;
}

}  // namespace

std::span<ProcessorLoops const* const> loops_of_this_processor() {
  static auto const found = find_loops();
  return found;
}

}  // namespace tessera::detail
