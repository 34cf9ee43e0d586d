#pragma once
/// @file
/// The loops that multiply.

#include <array>
#include <cstddef>

#include "src/kernels/products/product.hpp"

namespace tessera {

inline constexpr std::size_t product_type_count = 10;

/// The loops for one kind of processor.
struct ProductLoops {
  /// By type. The dimensions are merged.
  std::array<void (*)(Product const&), product_type_count> multiply;
};

/// Computes a product by these loops.
void multiply_by(ProductLoops const& loops, ProductType type, Product const& product);

}  // namespace tessera
