#include "tessera/detail/ops/binned_sum.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#endif

#ifdef __FAST_MATH__
#error "a binned sum needs (x + c) - c as written; compile without -ffast-math"
#endif

namespace tessera::detail {
namespace {

using namespace detail::binned;

// Short enough to stay in the first cache if it has to be cut twice.
constexpr std::size_t chunk_terms = 2048;

constexpr std::size_t line_terms = 8;     // of a cache line
constexpr std::size_t terms_ahead = 512;  // prefetched before they are needed

// ---- Cutting many terms at once.

// Explicit vectors, so that speed does not depend on the optimisation level. Their length is the
// machine's, since the compiler splits comparisons of longer ones.
#ifdef __AVX2__
constexpr std::size_t lanes = 4;
#else
constexpr std::size_t lanes = 2;
#endif
using Doubles = double __attribute__((vector_size(lanes * sizeof(double))));
using Masks = std::int64_t __attribute__((vector_size(lanes * sizeof(std::int64_t))));
using Words = std::uint64_t __attribute__((vector_size(lanes * sizeof(std::uint64_t))));

// a * b + c. The products here are exact, so rounding once or twice makes no difference. Fused
// operations use the idle multipliers, since adders limit the speed of a sum.
#if defined(__AVX2__) && defined(__FMA__)
Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else
Doubles multiply_add(Doubles a, Doubles b, Doubles c) {
  return a * b + c;
}
#endif

std::uint64_t sum_of(Words const& words) {
  std::uint64_t sum = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane) sum += words[lane];
  return sum;
}

bool all_of(Masks const& masks) {
  bool all = true;
  for (std::size_t lane = 0; lane < lanes; ++lane) all = all && masks[lane] != 0;
  return all;
}

/// Vectors of cuts.
struct VectorCuts {
  Doubles c0, c1, c2, scale, limit;
  Words sum0{};
  Words sum1{};
  Words sum2{};
  Masks fit = ~Masks{};

  explicit VectorCuts(Cutter const& cutter)
      : c0(Doubles{} + cutter.c0),
        c1(Doubles{} + cutter.c1),
        c2(Doubles{} + cutter.c2),
        scale(Doubles{} + cutter.scale),
        limit(Doubles{} + cutter.limit) {}

  void add(double const* terms) {
    Doubles x;
    std::memcpy(&x, terms, sizeof x);
    auto const magnitude = reinterpret_cast<Doubles>(reinterpret_cast<Words>(x) & ~sign_bit);
    fit &= magnitude < limit;  // not so for NaN
    Doubles const t0 = multiply_add(x, scale, c0);
    x = multiply_add(x, scale, c0 - t0);
    Doubles const t1 = x + c1;
    x += c1 - t1;
    Doubles const t2 = x + c2;
    sum0 += reinterpret_cast<Words>(t0);
    sum1 += reinterpret_cast<Words>(t1);
    sum2 += reinterpret_cast<Words>(t2);
  }
};

/// Cuts all of `terms` that fill whole vectors; the caller cuts the rest.
Cuts cut_vectors(std::span<double const> terms, Cutter const& cutter) {
  VectorCuts cuts(cutter);
  auto const whole = terms.size() / lanes * lanes;
  std::size_t i = 0;
  for (; i + line_terms <= whole; i += line_terms) {
    // The hardware prefetcher works only up to the end of a page.
    __builtin_prefetch(terms.data() + i + terms_ahead);
    for (std::size_t k = 0; k < line_terms; k += lanes) cuts.add(terms.data() + i + k);
  }
  for (; i < whole; i += lanes) cuts.add(terms.data() + i);
  return {sum_of(cuts.sum0), sum_of(cuts.sum1), sum_of(cuts.sum2), all_of(cuts.fit)};
}

Cuts cut(std::span<double const> terms, Cutter const& cutter) {
  auto cuts = cut_vectors(terms, cutter);
  for (double const term : terms.subspan(terms.size() / lanes * lanes)) cuts.add(term, cutter);
  return cuts;
}

/// The bits of the largest magnitude, NaN above infinity.
std::uint64_t largest_magnitude(std::span<double const> terms) {
  Masks largest{};
  std::size_t i = 0;
  for (; i + lanes <= terms.size(); i += lanes) {
    Words words;
    std::memcpy(&words, terms.data() + i, sizeof words);
    auto const magnitude = reinterpret_cast<Masks>(words & ~sign_bit);
    largest = magnitude > largest ? magnitude : largest;
  }
  std::uint64_t result = 0;
  for (std::size_t lane = 0; lane < lanes; ++lane)
    result = std::max(result, static_cast<std::uint64_t>(largest[lane]));
  for (double const term : terms.subspan(i)) result = std::max(result, bits_of(term) & ~sign_bit);
  return result;
}

}  // namespace

void BinnedSum::add(double term) {
  add_chunk({&term, 1});
}

void BinnedSum::add(std::span<double const> terms) {
  while (!terms.empty()) {
    auto const count = std::min(terms.size(), chunk_terms);
    add_chunk(terms.first(count));
    terms = terms.subspan(count);
  }
}

/// Cuts with the constants of the largest term so far, which nearly always fit; otherwise finds the
/// chunk's largest term and cuts again.
void BinnedSum::add_chunk(std::span<double const> terms) {
  if (top_ != last_bin && try_add(terms)) return;
  auto const largest = largest_magnitude(terms);
  if (largest >= infinity_bits) {
    add_special(terms);
    return;
  }
  raise_bins(bin_of(largest));
  try_add(terms);
}

/// Adds nothing and returns false if a term does not fit the top bin.
bool BinnedSum::try_add(std::span<double const> terms) {
  Cutter const cutter(top_);
  auto const cuts = cut(terms, cutter);
  if (cuts.fit) add_cuts(cuts, cutter, terms.size());
  return cuts.fit;
}

void BinnedSum::add_special(std::span<double const> terms) {
  for (double const term : terms) add_special(term);
}

}  // namespace tessera::detail
