#pragma once
/// @file
/// Pictures as PNG files.

#include <cstdint>
#include <span>
#include <string>

namespace examples {

inline constexpr std::int64_t png_side = 1000;  ///< pixels at most

/// The bytes of a PNG file: a row-major field of so many columns, a pixel per value, in colours
/// from dark blue for the smallest one to yellow for the largest. Source: PNG (ISO/IEC 15948) with
/// zlib's stored blocks (RFC 1950 and 1951): nothing is compressed.
[[nodiscard]] std::string encode_png(std::span<double const> values, std::int64_t columns);

}  // namespace examples
