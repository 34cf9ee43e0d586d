#pragma once
/// @file
/// The products of each kind of processor that the library was built for.

#include <array>
#include <cstddef>
#include <span>

#include "src/products/product.hpp"

namespace tessera {

inline constexpr std::size_t product_type_count = 10;

/// Those of every kind give the same bits.
struct ProcessorProducts {
  char const* name;
  /// By type. The dimensions are merged.
  std::array<void (*)(Product const&), product_type_count> multiply;
};

/// Computes a product as this kind of processor does.
void multiply_by(ProcessorProducts const& processor, ProductType type, Product const& product);

/// The kinds that this processor can run, the fastest first; the last one runs anywhere.
/// Cost: asks the processor at the first call.
[[nodiscard]] std::span<ProcessorProducts const* const> products_of_this_processor();

}  // namespace tessera
