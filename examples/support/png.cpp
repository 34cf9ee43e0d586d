#include "support/png.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "support/scale.hpp"

namespace examples {
namespace {

constexpr int last_color = 255;

void append_byte(std::string& to, std::uint32_t byte) {
  to += static_cast<char>(static_cast<unsigned char>(byte & 0xffU));
}

void append_number(std::string& to, std::uint32_t number) {
  for (unsigned shift = 32; shift > 0; shift -= 8) append_byte(to, number >> (shift - 8));
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (char const byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0);
  }
  return ~crc;
}

std::uint32_t adler_of(std::string_view bytes) {
  constexpr std::uint32_t prime = 65521;
  std::uint32_t low = 1, high = 0;
  for (char const byte : bytes) {
    low = (low + static_cast<unsigned char>(byte)) % prime;
    high = (high + low) % prime;
  }
  return (high << 16) | low;
}

// As zlib has it: blocks that are stored as they are.
std::string stored(std::string_view bytes) {
  constexpr std::size_t longest = 0xffff;
  std::string result{'\x78', '\x01'};
  auto rest = bytes;
  do {
    auto const block = rest.substr(0, longest);
    auto const length = static_cast<std::uint32_t>(block.size());
    rest.remove_prefix(block.size());
    append_byte(result, rest.empty() ? 1 : 0);
    for (auto const part : {length, length >> 8, ~length, ~length >> 8}) append_byte(result, part);
    result += block;
  } while (!rest.empty());
  append_number(result, adler_of(bytes));
  return result;
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_number(png, static_cast<std::uint32_t>(data.size()));
  auto const checked = std::string(type).append(data);
  png += checked;
  append_number(png, crc_of(checked));
}

// Viridis, by its ninth parts: equal steps look equal, also in grey.
std::string palette() {
  using Color = std::array<double, 3>;
  constexpr std::array<Color, 9> colors{{{68, 1, 84},
                                         {71, 45, 123},
                                         {59, 82, 139},
                                         {44, 114, 142},
                                         {33, 145, 140},
                                         {40, 174, 128},
                                         {94, 201, 98},
                                         {173, 220, 48},
                                         {253, 231, 37}}};
  std::string result;
  for (int shade = 0; shade <= last_color; ++shade) {
    auto const place = static_cast<double>(shade) / last_color * (colors.size() - 1);
    auto const below = std::min(static_cast<std::size_t>(place), colors.size() - 2);
    auto const part = place - static_cast<double>(below);
    for (std::size_t c = 0; c < 3; ++c)
      append_byte(result, static_cast<std::uint32_t>(std::lround((1 - part) * colors[below][c] +
                                                                 part * colors[below + 1][c])));
  }
  return result;
}

}  // namespace

std::string encode_png(std::span<double const> values, std::int64_t columns) {
  Scale const shade(values, last_color);
  std::string pixels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::int64_t>(i) % columns == 0) pixels += '\0';  // each row: not filtered
    append_byte(pixels, static_cast<std::uint32_t>(shade(values[i])));
  }
  std::string size;
  append_number(size, static_cast<std::uint32_t>(columns));
  append_number(size, static_cast<std::uint32_t>(std::ssize(values) / columns));

  std::string png("\x89PNG\r\n\x1a\n");
  append_chunk(png, "IHDR", size + std::string{8, 3, 0, 0, 0});  // 8 bits, of a palette
  append_chunk(png, "PLTE", palette());
  append_chunk(png, "IDAT", stored(pixels));
  append_chunk(png, "IEND", {});
  return png;
}

}  // namespace examples
