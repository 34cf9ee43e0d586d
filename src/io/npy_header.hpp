#pragma once
/// @file
/// The header of NumPy's files: what the cells are and where they begin.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tessera/io/npy.hpp"

#include "src/index/index.hpp"

namespace tessera::detail {

/// What a file says about its cells. Trivially copyable, so that one process can tell the others.
struct NpyHeader {
  static constexpr std::size_t most_dimensions = 32;  ///< more than an array may have
  static constexpr std::size_t most_dtype = 64;

  char dtype[most_dtype] = {};  ///< as in the file, "<f8"; cut off where it is long
  char kind = 0;                ///< as NpyType's; 0 for a type that no array has
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::int64_t item_bytes = 0;
  std::int64_t rank = 0;
  std::int64_t extents[most_dimensions] = {};
  std::int64_t first_cell = 0;  ///< the offset in the file, in bytes

  [[nodiscard]] Shape shape() const;
  [[nodiscard]] std::int64_t cells() const;
};

/// The bytes in front of the cells of a row-major array, as numpy.save writes them.
[[nodiscard]] std::string npy_header_text(NpyType const& type, Shape const& shape);

/// How many bytes of a file tell how long its header is.
inline constexpr std::size_t npy_prefix_bytes = 12;
/// The bytes of the whole header, out of a file's first npy_prefix_bytes.
/// Throws: Error, without the file's name, if it is none of NumPy's.
[[nodiscard]] std::int64_t npy_header_bytes(std::span<std::byte const> prefix);
/// Reads a whole header. Throws: Error, without the file's name.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view header);

}  // namespace tessera::detail
