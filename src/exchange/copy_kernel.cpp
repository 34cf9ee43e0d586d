#include "tessera/exchange/copy_kernel.hpp"

#include <cstring>

namespace tessera {
namespace {

// Row `row` of a box lies at this many elements from its first cell.
std::int64_t row_offset(std::int64_t row, Index const& extents, Index const& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = extents.size() - 1; d-- > 0;) {
    offset += (row % extents[d]) * strides[d];
    row /= extents[d];
  }
  return offset;
}

template <class T>
void copy_strided(std::byte* to, std::int64_t to_stride, std::byte const* from,
                  std::int64_t from_stride, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(T));
}

void copy_elements(std::byte* to, std::int64_t to_stride, std::byte const* from,
                   std::int64_t from_stride, std::int64_t count, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_strided<std::uint8_t>(to, to_stride, from, from_stride, count);
    case 4:
      return copy_strided<std::uint32_t>(to, to_stride, from, from_stride, count);
    case 8:
      return copy_strided<std::uint64_t>(to, to_stride, from, from_stride, count);
    default:
      for (std::int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<std::size_t>(bytes));
  }
}

template <bool unit_stride>
void copy_rows(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const bytes = static_cast<CopyKernel const*>(call.kernel)->element_bytes;
  auto const& leaf = call.leaves[0];
  auto const count = call.extents->back();
  for (std::int64_t row = first; row < last; ++row) {
    auto* to = call.target + row_offset(row, *call.extents, *call.target_strides) * bytes;
    auto const* from = leaf.first + row_offset(row, *call.extents, *leaf.strides) * bytes;
    if constexpr (unit_stride)
      std::memmove(to, from, static_cast<std::size_t>(count * bytes));
    else
      copy_elements(to, call.target_strides->back() * bytes, from, leaf.strides->back() * bytes,
                    count, bytes);
  }
}

}  // namespace

KernelForms copy_forms() {
  return {copy_rows<true>, copy_rows<false>};
}

}  // namespace tessera
