#include "src/execution/one_sided/check_request.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/index/index.hpp"

namespace tessera {
namespace {

// 0 for a number that names no kind.
std::int64_t bytes_of(NumberKind kind) {
  switch (kind) {
    case NumberKind::int8:
    case NumberKind::uint8:
      return 1;
    case NumberKind::int16:
    case NumberKind::uint16:
    case NumberKind::half:
    case NumberKind::brain:
      return 2;
    case NumberKind::int32:
    case NumberKind::uint32:
    case NumberKind::float32:
      return 4;
    case NumberKind::int64:
    case NumberKind::uint64:
    case NumberKind::float64:
    case NumberKind::complex64:
      return 8;
    case NumberKind::complex128:
      return 16;
  }
  return 0;
}

// Atomics compare words of these sizes.
bool can_be_compared(NumberKind kind) {
  return (bytes_of(kind) == 4 || bytes_of(kind) == 8) && kind != NumberKind::complex64;
}

std::string reason_against_update(RequestMessage const& request, std::int64_t box_bytes,
                                  std::int64_t element_bytes) {
  auto const& update = request.update;
  if (request.bytes != element_bytes || box_bytes != element_bytes || request.first_byte != 0)
    return "an update of other than one cell";
  if (bytes_of(update.kind) != element_bytes)
    return text("an update of other numbers than those of ", element_bytes, " bytes there");
  switch (update.what) {
    case CellUpdate::What::add:
      return {};
    case CellUpdate::What::compare_exchange:
      return can_be_compared(update.kind) ? "" : "a comparison of numbers that cannot be compared";
  }
  return "an unknown update";
}

bool is_inside(Box const& cells, Box const& own) {
  for (std::size_t d = 0; d < own.rank(); ++d)
    if (cells.lo[d] >= cells.hi[d]) return false;
  return own.contains(cells);
}

}  // namespace

std::string reason_against(RequestMessage const& request, Box const& own,
                           std::int64_t element_bytes, std::int64_t payload_bytes) {
  auto const rank = own.rank();
  Box const cells{Index(request.lo.begin(), request.lo.begin() + rank),
                  Index(request.hi.begin(), request.hi.begin() + rank)};
  if (!is_inside(cells, own)) return "no such cells";
  auto const box_bytes = cells.cells() * element_bytes;
  auto const bytes = request.bytes;
  auto const first = request.first_byte;
  if (bytes <= 0 || bytes > std::min(box_bytes, most_request_bytes) || first < 0 ||
      first > box_bytes - bytes)
    return "bytes that these cells do not have";
  // The longest word that fills an element evenly is read and written whole.
  auto const word = std::min<std::int64_t>(element_bytes & -element_bytes, 8);
  if (bytes % word != 0 || first % word != 0) return "a part of a word";
  switch (request.what) {
    case RequestMessage::What::read:
      return payload_bytes == 0 ? "" : "a read that brings bytes";
    case RequestMessage::What::write:
      return payload_bytes == bytes ? "" : "a write of other bytes than it brings";
    case RequestMessage::What::update:
      return payload_bytes == 0 ? reason_against_update(request, box_bytes, element_bytes)
                                : "an update that brings bytes";
  }
  return "an unknown request";
}

}  // namespace tessera
