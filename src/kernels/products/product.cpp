#include "src/kernels/products/product.hpp"

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/kernels/products/gpu_cells.hpp"
#include "src/kernels/products/loops.hpp"
#include "src/kernels/products/multiplier.hpp"
#include "src/kernels/products/offsets.hpp"
#include "src/kernels/products/thin.hpp"

namespace tessera {
namespace {

// True if, in every operand, one index of `outer` is as far as the whole extent of `inner`.
bool can_merge(ProductDimension const& outer, ProductDimension const& inner) {
  return outer.a == inner.a * inner.extent && outer.b == inner.b * inner.extent &&
         outer.start == inner.start * inner.extent && outer.c == inner.c * inner.extent;
}

bool is_complex(ProductType type) {
  return type == ProductType::complex64 || type == ProductType::complex128;
}

void transpose(Product& product) {
  std::swap(product.a, product.b);
  std::swap(product.rows, product.columns);
  for (auto* const all : {&product.batch, &product.rows, &product.columns, &product.terms})
    for (auto& dimension : all->dimensions) std::swap(dimension.a, dimension.b);
}

// True if the product of the transposed matrices is faster: either it is thin, or the columns of c
// are contiguous and its rows are not. The bits are the same, since fma(x, y, z) equals fma(y, x,
// z). Complex products are not: the two fma of their imaginary part would change order.
bool is_better_transposed(ProductType type, Product const& product) {
  if (is_complex(type) || is_thin(product)) return false;
  auto other = product;
  transpose(other);
  auto const innermost = [](ProductDimensions const& all) {
    return all.count == 0 ? std::int64_t{0} : all.dimensions[all.count - 1].c;
  };
  return is_thin(other) || (innermost(product.columns) != 1 && innermost(product.rows) == 1);
}

constexpr std::align_val_t cache_line_bytes{64};

struct FreeAligned {
  void operator()(std::byte* memory) const { ::operator delete[](memory, cache_line_bytes); }
};

}  // namespace

std::int64_t bytes_of(ProductType type) {
  switch (type) {
    case ProductType::bits8:
      return 1;
    case ProductType::bits16:
    case ProductType::float16:
    case ProductType::bfloat16:
      return 2;
    case ProductType::bits32:
    case ProductType::float32:
      return 4;
    case ProductType::bits64:
    case ProductType::float64:
    case ProductType::complex64:
      return 8;
    case ProductType::complex128:
      return 16;
  }
  return 0;
}

void ProductDimensions::merge() {
  std::size_t kept = 0;
  for (std::size_t d = 0; d < count; ++d) {
    auto const& next = dimensions[d];
    if (next.extent == 1) continue;
    if (kept > 0 && can_merge(dimensions[kept - 1], next)) {
      auto const extent = dimensions[kept - 1].extent * next.extent;
      dimensions[kept - 1] = next;
      dimensions[kept - 1].extent = extent;
    } else {
      dimensions[kept++] = next;
    }
  }
  count = kept;
}

Offsets offsets_of(ProductDimensions const& dimensions, std::int64_t first, std::int64_t count,
                   std::int64_t ProductDimension::*operand, std::int64_t* into) {
  if (dimensions.count == 1) {
    auto const stride = dimensions.dimensions[0].*operand;
    for (std::int64_t i = 0; i < count; ++i) into[i] = (first + i) * stride;
    return {into, count, true, count > 1 ? stride : 1};
  }
  std::array<std::int64_t, most_product_dimensions> at{};
  std::int64_t offset = 0;
  auto rest = first;
  for (auto d = dimensions.count; d-- > 0; rest /= dimensions.dimensions[d].extent) {
    at[d] = rest % dimensions.dimensions[d].extent;
    offset += at[d] * dimensions.dimensions[d].*operand;
  }
  Offsets result{into, count};
  for (std::int64_t i = 0; i < count; ++i) {
    into[i] = offset;
    if (i == 1) result.stride = into[1] - into[0];
    if (i > 1)
      result.is_equally_spaced = result.is_equally_spaced && into[i] - into[i - 1] == result.stride;
    for (auto d = dimensions.count; d-- > 0;) {
      auto const& dimension = dimensions.dimensions[d];
      offset += dimension.*operand;
      if (++at[d] < dimension.extent) break;
      offset -= dimension.*operand * dimension.extent;
      at[d] = 0;
    }
  }
  return result;
}

Product merged(Product const& product) {
  auto result = product;
  for (auto* const all : {&result.batch, &result.rows, &result.columns, &result.terms})
    all->merge();
  return result;
}

std::int64_t gpu_tiles(Product const& product) {
  auto const tiles = [](ProductDimensions const& all, std::int64_t width) {
    return (all.size() + width - 1) / width;
  };
  return product.batch.size() * tiles(product.rows, gpu_tile_rows) *
         tiles(product.columns, gpu_tile_columns);
}

std::byte* product_memory(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[], FreeAligned> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(static_cast<std::byte*>(::operator new[](bytes, cache_line_bytes)));
    size = bytes;
  }
  return memory.get();
}

void multiply_by(ProductLoops const& loops, ProductType type, Product const& product) {
  if (product.batch.size() * product.rows.size() * product.columns.size() == 0) return;
  auto wanted = merged(product);
  if (is_better_transposed(type, wanted)) transpose(wanted);
  loops.multiply[static_cast<std::size_t>(type)](wanted);
}

}  // namespace tessera
