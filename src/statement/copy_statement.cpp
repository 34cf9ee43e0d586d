#include "src/statement/copy_statement.hpp"

#include <cstring>

#include "src/base/detail.hpp"
#include "src/index/index.hpp"

namespace tessera {
namespace {

// The first cell of a row, in an array with these strides.
template <class Byte>
struct RowOfBytes {
  Byte* first;
  Index const& strides;  // in elements
  std::int64_t element_bytes;
  void move(std::size_t d, std::int64_t n) { first += n * strides[d] * element_bytes; }
};

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
  auto const count = call.extents->back();
  RowOfBytes<std::byte> to{call.target, *call.target_strides, bytes};
  RowOfBytes<std::byte const> from{call.operands[0].first, *call.operands[0].strides, bytes};
  auto const copy = [&] {
    if constexpr (unit_stride)
      std::memmove(to.first, from.first, static_cast<std::size_t>(count * bytes));
    else
      copy_elements(to.first, to.strides.back() * bytes, from.first, from.strides.back() * bytes,
                    count, bytes);
  };
  visit_rows(*call.extents, first, last, copy, to, from);
}

}  // namespace

KernelForms copy_forms() {
  return {copy_rows<true>, copy_rows<false>};
}

CopyStatement::CopyStatement(detail::StatePtr const& to, AffineMap const& map,
                             detail::StatePtr const& from, AffineMap const& from_map,
                             Shape const& shape, SourceLocation const& location, char const* kind)
    : kernel_{to->element_bytes()} {
  statement_.kind = kind;
  statement_.location = location;
  statement_.type_hash = detail::hash_text("copy");
  statement_.purpose = Purpose::transfer;
  statement_.copied_bytes = to->element_bytes();
  statement_.work = {to->layout(), map, whole(shape)};
  statement_.target = detail::named(to);
  statement_.operands.push_back({from, Access::plain(from_map), -1});
  statement_.forms = copy_forms();
  statement_.kernel = &kernel_;
  statement_.kernel_bytes = sizeof kernel_;
}

CopyStatement::CopyStatement(detail::StatePtr const& to, detail::StatePtr const& from,
                             SourceLocation const& location, char const* kind)
    : CopyStatement(to, AffineMap::identity(to->layout()->rank()), from,
                    AffineMap::identity(to->layout()->rank()), to->layout()->shape(), location,
                    kind) {}

}  // namespace tessera
