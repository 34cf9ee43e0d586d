#pragma once
/// @file
/// The table of compiled product loops for one kind of processor.

#include <array>
#include <cstddef>

#include "src/kernels/products/product.hpp"

namespace tessera {

inline constexpr std::size_t product_type_count = 10;

/// The product loops that were compiled for one kind of processor.
struct ProductLoops {
  /// One loop per ProductType. Each expects merged dimensions, as from merged().
  std::array<void (*)(Product const&), product_type_count> multiply;
};

/// Computes a product with these loops; merges its dimensions first.
void multiply_by(ProductLoops const& loops, ProductType type, Product const& product);

}  // namespace tessera
