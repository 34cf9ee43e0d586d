#pragma once
/// @file
/// Arrays as text: their cells in brackets, long dimensions with their ends only, and who owns
/// what.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tessera/array/dist_array.hpp"
#include "tessera/layout/visualize.hpp"

namespace tessera {
namespace detail {

/// The cells that a printed array shows: all of a short dimension, three from each end of a long
/// one.
struct Shown {
  Shape shape;                   ///< of the array
  Shape shown;                   ///< of what is shown
  std::vector<std::byte> bytes;  ///< row-major
};

/// Ranks: collective. Cost: the cells shown, on every process.
[[nodiscard]] Shown read_shown(StatePtr const& state, AffineMap const& map, Shape const& shape);

/// Brackets around the cells, `write(out, number)` for each cell shown.
void write_brackets(std::ostream& out, Shown const& shown,
                    std::function<void(std::ostream&, std::size_t)> const& write);

/// True on the process that prints.
[[nodiscard]] bool is_printer();

template <class T>
void write_cells(std::ostream& out, Shown const& shown) {
  auto const* cells = reinterpret_cast<T const*>(shown.bytes.data());
  write_brackets(out, shown, [cells](std::ostream& to, std::size_t i) {
    if constexpr (sizeof(T) == 1 && std::is_integral_v<T>)
      to << static_cast<int>(cells[i]);
    else
      to << cells[i];
  });
}

}  // namespace detail

/// "[[0 1 … 9]\n …]" and a line with type, shape and sharding; without dimensions, one cell.
/// Ranks: collective; only process 0 writes.
template <Element T, std::size_t N>
std::ostream& operator<<(std::ostream& out, DistArray<T, N> const& u) {
  auto const& held = u.layout()->shape();
  auto shown = detail::read_shown(u.readable(), detail::AffineMap::identity(held.size()), held);
  if (!detail::is_printer()) return out;
  if constexpr (N == 0) shown.shape = shown.shown = {};
  detail::write_cells<T>(out, shown);
  return out << '\n' << dtype_name<T>() << ' ' << u.shape() << " on " << u.sharding();
}

/// The cells a view shows. Ranks: collective; only process 0 writes.
template <class T, std::size_t N, std::size_t R>
requires(N > 0) std::ostream& operator<<(std::ostream& out, View<T, N, R> const& view) {
  auto const shown = detail::read_shown(view.readable(), view.map(N), view.shape());
  if (detail::is_printer()) detail::write_cells<std::remove_const_t<T>>(out, shown);
  return out;
}

/// Who owns what, as text for a terminal. Ranks: local.
template <Element T, std::size_t N>
[[nodiscard]] std::string visualize(DistArray<T, N> const& u, Color color = Color::automatic) {
  return visualize(*u.layout(), color);
}

/// The same as an SVG picture, of 1 to 3 dimensions. Ranks: local.
template <Element T, std::size_t N>
[[nodiscard]] std::string visualize_svg(DistArray<T, N> const& u) {
  return visualize_svg(*u.layout());
}
/// Writes that picture to a file. Ranks: every process may call it; process 0 writes.
/// Throws: ShapeError, UsageError; Error, on process 0, if the file cannot be written.
template <Element T, std::size_t N>
void save_svg(std::string const& path, DistArray<T, N> const& u) {
  if (detail::is_printer())
    save_svg(path, *u.layout());
  else
    (void)visualize_svg(u);  // throws what process 0 throws
}

}  // namespace tessera
