#pragma once
/// @file
/// Small pictures for a terminal.

#include <cstdint>
#include <span>
#include <string>

namespace examples {

inline constexpr std::int64_t picture_columns = 64;
inline constexpr std::int64_t picture_rows = 24;

/// The distance between cells of which at most `wanted` remain when every such one is kept.
[[nodiscard]] std::int64_t stride_for(std::int64_t cells, std::int64_t wanted);

/// A profile as eight lines of bars between its smallest and largest value.
[[nodiscard]] std::string draw_profile(std::span<double const> values);

/// A row-major field of so many columns in shades between its smallest and largest value.
[[nodiscard]] std::string draw_field(std::span<double const> values, std::int64_t columns);

/// A row-major field of so many columns: a block where a cell is not 0.
[[nodiscard]] std::string draw_cells(std::span<std::uint8_t const> cells, std::int64_t columns);

}  // namespace examples
