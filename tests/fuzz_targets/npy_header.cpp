// Headers of NumPy files. The bytes are those of a file, or the literal of a header, to which the
// bytes in front are added.
#include "src/io/npy_header.hpp"

#include <string>

#include "src/base/text.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

using detail::NpyHeader;
using detail::NpyType;

constexpr std::size_t prefix_bytes = 10;  // of version 1

std::string in_front(std::size_t literal_bytes) {
  std::string front("\x93NUMPY\x01\x00", 8);
  front.push_back(static_cast<char>(literal_bytes & 0xff));
  front.push_back(static_cast<char>(literal_bytes >> 8U));
  return front;
}

std::string whole(std::span<std::byte const> bytes) {
  auto const words = as_text(bytes);
  if (words.starts_with('\x93') || words.size() > 0xffff) return std::string(words);
  return in_front(words.size()) + std::string(words);
}

void check_header(NpyHeader const& header) {
  require(header.rank >= 0 && header.rank <= std::int64_t{NpyHeader::most_dimensions}, "the rank");
  for (auto const extent : std::span(header.extents)) require(extent >= 0, "an extent below 0");
  require(header.cells() >= 0, "cells below 0");
  require(header.dtype[NpyHeader::most_dtype - 1] == 0, "a dtype that does not end");
  if (header.kind == 0) return;
  require(header.item_bytes >= 1 && header.item_bytes <= 16, "the size of an item");
  require(header.cells() * header.item_bytes >= 0, "the bytes of all cells");
}

// What the library writes for such an array is read as the same.
void check_written(NpyHeader const& header) {
  if (header.kind == 0 || header.rank > std::int64_t{max_rank}) return;
  auto const written = npy_header_text({header.kind, header.item_bytes, ""}, header.shape());
  auto const again = detail::parse_npy_header(written);
  require(again.kind == header.kind && again.item_bytes == header.item_bytes, "the type, written");
  require(again.shape() == header.shape(), "the shape, written");
  require(written.size() % 64 == 0, "a header of other than whole lines");
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  auto const file = whole(bytes);
  if (file.size() < detail::npy_prefix_bytes) return;
  auto const all = std::as_bytes(std::span(file));
  auto const header_bytes = detail::npy_header_bytes(all.first(detail::npy_prefix_bytes));
  require(header_bytes >= std::int64_t{prefix_bytes}, "a header without its beginning");
  if (header_bytes > std::ssize(file)) return;
  auto const header = detail::parse_npy_header(
      std::string_view(file).substr(0, static_cast<std::size_t>(header_bytes)));
  require(header.first_cell == header_bytes, "the first cell");
  check_header(header);
  check_written(header);
}

}  // namespace tessera::fuzz
