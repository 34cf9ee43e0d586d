#pragma once
/// @file
/// The oracle: a dense array in one process, with NumPy's rules written the plain way.

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <type_traits>
#include <vector>

#include "src/index/index.hpp"
#include "src/plan/access.hpp"

#include "support/boundaries.hpp"
#include "support/brute_force.hpp"

namespace tessera::test {

/// The cells first, first + step, … of one dimension.
struct Span {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
  friend std::ostream& operator<<(std::ostream& out, Span const& s) {
    return out << s.first << ':' << s.first + s.step * s.count << ':' << s.step;
  }
};
using Spans = std::vector<Span>;

/// What lies past one edge.
struct Edge {
  BoundaryKind kind = BoundaryKind::periodic;
  std::int64_t value = 0;
};
/// Both ends of one dimension.
struct Edges {
  Edge below;
  Edge above;
};

template <class T>
struct Mirror {
  Shape shape;
  std::vector<T> cells;

  Mirror() = default;
  explicit Mirror(Shape const& s, T value = T{})
      : shape(s), cells(static_cast<std::size_t>(cells_of(s)), value) {}
  template <class F>
  [[nodiscard]] static Mirror made_of(Shape const& s, F const& f) {
    Mirror result(s);
    std::size_t next = 0;
    for_each_cell(whole(s), [&](Index const& i) { result.cells[next++] = static_cast<T>(f(i)); });
    return result;
  }

  [[nodiscard]] std::size_t place(Index const& i) const {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + i[d];
    return static_cast<std::size_t>(at);
  }
  [[nodiscard]] T const& at(Index const& i) const { return cells[place(i)]; }
  [[nodiscard]] T& at(Index const& i) { return cells[place(i)]; }

  [[nodiscard]] Spans all() const {
    Spans spans;
    for (auto const extent : shape) spans.push_back({0, 1, extent});
    return spans;
  }
  /// The cells of the spans, as an array of their counts.
  [[nodiscard]] Mirror slice(Spans const& spans) const {
    return made_of(counts(spans), [&](Index const& i) { return at(cell(spans, i)); });
  }
  /// Writes the spans; the value is broadcast to them.
  void assign(Spans const& spans, Mirror const& value) {
    for_each_cell(whole(counts(spans)),
                  [&](Index const& i) { at(cell(spans, i)) = value.broadcast_at(i); });
  }
  /// The cell for index i of a larger array: extents of 1 repeat, missing leading dimensions too.
  [[nodiscard]] T const& broadcast_at(Index const& i) const {
    Index own;
    auto const missing = i.size() - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d)
      own.push_back(shape[d] == 1 ? 0 : i[d + missing]);
    return at(own);
  }
  /// Cell i is cell i + offsets. In a corner past several constant edges the last dimension
  /// decides.
  [[nodiscard]] Mirror shifted(Index const& offsets, std::vector<Edges> const& edges) const {
    return made_of(shape, [&](Index const& i) { return neighbour(i, offsets, edges); });
  }
  /// With cells past the edges in front and behind: cell i is cell i - low.
  [[nodiscard]] Mirror padded(Index const& low, Index const& high,
                              std::vector<Edges> const& edges) const {
    Shape wide;
    Index offsets;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      wide.push_back(low[d] + shape[d] + high[d]);
      offsets.push_back(-low[d]);
    }
    return made_of(wide, [&](Index const& i) { return neighbour(i, offsets, edges); });
  }

  [[nodiscard]] static Shape counts(Spans const& spans) {
    Shape shape;
    for (auto const& span : spans) shape.push_back(span.count);
    return shape;
  }
  [[nodiscard]] static Index cell(Spans const& spans, Index const& i) {
    Index cell;
    for (std::size_t d = 0; d < spans.size(); ++d)
      cell.push_back(spans[d].first + spans[d].step * i[d]);
    return cell;
  }

 private:
  T neighbour(Index const& i, Index const& offsets, std::vector<Edges> const& edges) const {
    Index cell;
    bool constant = false;
    T value{};
    for (std::size_t d = 0; d < shape.size(); ++d) {
      auto j = i[d] + offsets[d];
      bool const outside = j < 0 || j >= shape[d];
      auto const& side = j < 0 ? edges[d].below : edges[d].above;
      if (outside && side.kind == BoundaryKind::constant) {
        constant = true;
        value = static_cast<T>(side.value);
        j = 0;
      } else if (outside && side.kind == BoundaryKind::edge) {
        j = j < 0 ? 0 : shape[d] - 1;
      } else if (outside && is_mirror(side.kind)) {
        j = mirrored(j, shape[d], side.kind);
      } else if (outside) {
        j = floor_mod(j, shape[d]);
      }
      cell.push_back(j);
    }
    return constant ? value : at(cell);
  }
};

/// Cell by cell f(a, b, …), broadcast to `shape`.
template <class T, class F, class... A>
[[nodiscard]] Mirror<T> combined(Shape const& shape, F const& f, Mirror<A> const&... operands) {
  return Mirror<T>::made_of(shape, [&](Index const& i) { return f(operands.broadcast_at(i)...); });
}

/// Dimension d is the array's dimension order[d].
template <class T>
[[nodiscard]] Mirror<T> transposed(Mirror<T> const& m, std::vector<std::size_t> const& order) {
  Shape shape;
  for (auto const d : order) shape.push_back(m.shape[d]);
  return Mirror<T>::made_of(shape, [&](Index const& i) {
    Index cell(order.size(), 0);
    for (std::size_t d = 0; d < order.size(); ++d) cell[order[d]] = i[d];
    return m.at(cell);
  });
}

/// Equal bit for bit: -0 is not +0. Every NaN equals every other one.
template <class T>
[[nodiscard]] bool same_bits(std::vector<T> const& a, std::vector<T> const& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a == b;
  } else {
    using Bytes = std::array<std::byte, sizeof(T)>;
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T const& x, T const& y) {
      if (std::bit_cast<Bytes>(x) == std::bit_cast<Bytes>(y)) return true;
      if constexpr (std::equality_comparable<T>) return x != x && y != y;
      return false;
    });
  }
}

}  // namespace tessera::test
