// The kernels by the fastest loops that this processor can run.

#include <algorithm>

#include "tessera/detail/kernels/formulas/functions.hpp"
#include "tessera/detail/kernels/random/fill.hpp"

#include "src/kernels/processors.hpp"
#include "src/kernels/products/product.hpp"
#include "src/kernels/random/make_loops.hpp"

namespace tessera {
namespace {

// A copy, since threads may compute until the end of the process.
[[nodiscard]] ProcessorKernels const& best() {
  static auto const kernels = kernels_of_this_processor().front();
  return kernels;
}

}  // namespace

void multiply(ProductType type, Product const& product) {
  multiply_by(*best().products, type, product);
}

}  // namespace tessera

namespace tessera::detail {
namespace {

/// Calls write(bits, first cell, cells) for parts of the blocks: the bits of their cells, as a Word
/// each.
template <class Word, class Write>
void visit_parts(PhiloxBlocks blocks, Write const& write) {
  constexpr std::int64_t per_block = 16 / sizeof(Word);
  alignas(64) Word bits[most_philox_blocks * 16 / sizeof(Word)];
  std::int64_t first = 0;
  for (auto left = blocks.count; left > 0; left -= most_philox_blocks) {
    blocks.count = std::min(left, most_philox_blocks);
    fill_random_words(blocks, bits);
    write(bits, first, blocks.count * per_block);
    blocks.first += static_cast<std::uint64_t>(blocks.count);
    first += blocks.count * per_block;
  }
}

}  // namespace

void compute(Function function, float const* arguments, float* values, std::int64_t count) {
  best().formulas->floats.one[static_cast<std::size_t>(function)](arguments, values, count);
}
void compute(Function function, double const* arguments, double* values, std::int64_t count) {
  best().formulas->doubles.one[static_cast<std::size_t>(function)](arguments, values, count);
}
void compute(Function2 function, float const* first, float const* second, float* values,
             std::int64_t count) {
  best().formulas->floats.two[static_cast<std::size_t>(function)](first, second, values, count);
}
void compute(Function2 function, double const* first, double const* second, double* values,
             std::int64_t count) {
  best().formulas->doubles.two[static_cast<std::size_t>(function)](first, second, values, count);
}

void fill_random_words(PhiloxBlocks const& blocks, std::uint32_t* words) {
  best().random->words(blocks, words);
}
// The lower word first, as this processor has it, too.
void fill_random_words(PhiloxBlocks const& blocks, std::uint64_t* words) {
  best().random->words(blocks, reinterpret_cast<std::uint32_t*>(words));
}
void fill_uniform(PhiloxBlocks const& blocks, float* values) {
  best().random->uniform_floats(blocks, values);
}
void fill_uniform(PhiloxBlocks const& blocks, double* values) {
  best().random->uniform_doubles(blocks, values);
}
void fill_normal(PhiloxBlocks const& blocks, float* values) {
  visit_parts<std::uint32_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best().random->normal_floats(bits, values + first, count / 2);
  });
}
void fill_normal(PhiloxBlocks const& blocks, double* values) {
  visit_parts<std::uint64_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best().random->normal_doubles(bits, values + first, count / 2);
  });
}
void fill_exponential(PhiloxBlocks const& blocks, float* values) {
  visit_parts<std::uint32_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best().random->exponential_floats(bits, values + first, count);
  });
}
void fill_exponential(PhiloxBlocks const& blocks, double* values) {
  visit_parts<std::uint64_t>(blocks, [=](auto const* bits, auto first, auto count) {
    best().random->exponential_doubles(bits, values + first, count);
  });
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<float> const& interval,
                    float* values) {
  visit_parts<std::uint32_t>(blocks, [&](auto const* bits, auto first, auto count) {
    best().random->truncated_floats(interval, bits, values + first, count);
  });
}
void fill_truncated(PhiloxBlocks const& blocks, NormalInterval<double> const& interval,
                    double* values) {
  visit_parts<std::uint64_t>(blocks, [&](auto const* bits, auto first, auto count) {
    best().random->truncated_doubles(interval, bits, values + first, count);
  });
}

}  // namespace tessera::detail
