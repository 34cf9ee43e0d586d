#pragma once
/// @file
/// Random programs that reduce views whose index space is not that of an array: slices, shifted,
/// padded, transposed and joined arrays, and what is computed of them. The oracle is the mirror.
///
/// Arrays change their shapes on the way. So each statement draws its numbers when it runs, from a
/// seed of its own, and fits those shapes whichever statements before it are left out.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"

#include "src/base/detail.hpp"

#include "support/arrays.hpp"

#include "oracle.hpp"
#include "random_programs.hpp"

namespace tessera::test {

using Doubles = std::vector<double>;
using Truths = std::vector<std::uint8_t>;

inline bool same_or_nan(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || same_bits(Doubles{a}, Doubles{b});
}
template <class T>
bool same_or_nan(std::vector<T> const& a, std::vector<T> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) {
    return same_or_nan(static_cast<double>(x), static_cast<double>(y));
  });
}
template <class T>
bool same_or_nan(T const& a, Truths const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](bool x, std::uint8_t y) { return x == (y != 0); });
}

/// Random pieces of a program: shapes, slices and edges.
class ViewNumbers {
 public:
  explicit ViewNumbers(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::int64_t between(std::int64_t low, std::int64_t high) {
    return random_.between(low, high);
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return random_.between(1, n) == 1; }
  [[nodiscard]] std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(n) - 1));
  }

  [[nodiscard]] Shape shape(std::size_t rank) {
    Shape shape;
    auto const most = rank == 1 ? 24 : 10;
    for (std::size_t d = 0; d < rank; ++d)
      shape.push_back(one_in(8) ? between(0, 2) : between(2, most));
    return shape;
  }

  /// Of `extent` cells, at most `most`; often nearly all of them.
  [[nodiscard]] Span span(std::int64_t extent, std::int64_t most) {
    most = std::min(most, extent);
    auto const count =
        one_in(6) ? between(0, most) : std::max<std::int64_t>(0, most - between(0, 2));
    if (count == 0) return {between(0, extent), 1, 0};
    auto const widest = count == 1 ? 1 : (extent - 1) / (count - 1);
    auto const step = between(1, std::min<std::int64_t>(widest, 3));
    auto const first = between(0, extent - 1 - step * (count - 1));
    if (one_in(3)) return {first + step * (count - 1), -step, count};
    return {first, step, count};
  }

  /// Nothing but a constant lies past the edges of no cells.
  [[nodiscard]] std::vector<Edges> edges(Shape const& shape) {
    std::vector<Edges> result;
    for (auto const extent : shape) {
      auto const end = [&] {
        auto const kind = extent == 0 ? BoundaryKind::constant : random_end(random_);
        return Edge{kind, between(-9, 9)};
      };
      if (extent > 0 && one_in(3))
        result.push_back({});
      else
        result.push_back({end(), end()});
    }
    return result;
  }

  /// On the devices of the job. A cut of equal pieces would refuse most of the shapes to come.
  [[nodiscard]] NamedSharding sharding(Mesh const& mesh, Shape const& shape) {
    for (;;) {
      auto const drawn = random_sharding_on(random_, mesh, shape);
      bool fits = true;
      for (std::size_t d = 0; d < shape.size(); ++d)
        fits = fits && drawn.cut(d).kind() != Cut::Kind::strict;
      if (fits) return drawn;
    }
  }
  [[nodiscard]] Mesh mesh() { return random_mesh(random_, between(1, device_count())); }

 private:
  Random random_;
};

inline Range range_of(Span const& span) {
  if (span.count == 0) return range(span.first, span.first);
  auto const end = span.first + span.step * span.count;
  return range(span.first, end < 0 ? RangeEnd(none) : RangeEnd(end), span.step);
}
inline std::vector<Boundaries> boundaries_of(std::vector<Edges> const& edges) {
  auto const one = [](Edge const& e) {
    return e.kind == BoundaryKind::constant ? Boundary(constant(e.value)) : Boundary(e.kind);
  };
  std::vector<Boundaries> result;
  for (auto const& both : edges) result.emplace_back(one(both.below), one(both.above));
  return result;
}

/// One random reduction of an expression, along one dimension or all, against its mirror.
class RandomReduction {
 public:
  RandomReduction(ViewNumbers& numbers, std::ostream& log) : numbers_(numbers), log_(log) {}

  template <Expression E>
  bool agrees(E const& e, Mirror<double> const& m) {
    auto const d = numbers_.below(E::rank);
    auto const kind = numbers_.between(0, 13);
    log_ << " reduction " << kind << " axis " << d << '\n';
    switch (kind) {
      case 0:
        return same_or_nan(sum(e), sum_of(m.cells));
      case 1:
        return same_or_nan(mean(e), mean_of(m.cells));
      case 2:
        return same_or_nan(var(e), var_of(m.cells));
      case 3:
        return same_or_nan(norm(e), std::sqrt(sum_of(squares(m.cells))));
      case 4:
        return count(e).value() == nonzero(m.cells);
      case 5:
        return any(e).value() == (nonzero(m.cells) > 0);
      case 6:
        return m.cells.empty() || argmin(e).value() == argmin_of(m.cells);
      case 7:
        return same_or_nan(dot(e, e), sum_of(squares(m.cells)));
      default:
        return agrees_along(e, m, d, kind);
    }
  }

 private:
  template <Expression E>
  static bool agrees_along(E const& e, Mirror<double> const& m, std::size_t d, std::int64_t kind) {
    auto const along = axis(static_cast<std::int64_t>(d));
    auto const wanted = [&](auto const& f) { return reduced_by(m, {d}, f); };
    switch (kind) {
      case 8:
        return same_or_nan(to_cells(sum(e, along)), wanted(sum_of));
      case 9:
        return same_or_nan(to_cells(mean(e, along.keep_dimensions())), wanted(mean_of));
      case 10:
        return same_or_nan(to_cells(var(e, along)),
                           wanted([](Doubles const& x) { return var_of(x); }));
      case 11:
        return m.cells.empty() ||
               same_or_nan(to_cells(argmin(e, along)), wanted(argmin_of<double>));
      case 12:
        return m.cells.empty() ||
               same_or_nan(to_cells(max(e, along.keep_dimensions())), wanted(largest));
      default:
        return same_or_nan(to_cells(tessera::all(e, along)), wanted([](Doubles const& x) {
                             return static_cast<std::uint8_t>(nonzero(x) == std::ssize(x) ? 1 : 0);
                           }));
    }
  }

  template <class T>
  static std::vector<T> to_cells(Scalar<T> const& value) {
    return {value.value()};
  }
  template <class T, std::size_t N>
  static auto to_cells(DistArray<T, N> const& u) {
    return u.to_host();
  }
  static Doubles squares(Doubles terms) {
    for (auto& x : terms) x *= x;
    return terms;
  }
  static std::int64_t nonzero(Doubles const& terms) {
    return std::count_if(terms.begin(), terms.end(), [](double x) { return x != 0; });
  }
  static double largest(Doubles const& terms) {
    return *std::max_element(terms.begin(), terms.end()) + 0.0;  // a zero is +0
  }

  ViewNumbers& numbers_;
  std::ostream& log_;
};

template <std::size_t N>
class ViewsFuzz {
 public:
  static constexpr std::size_t rank = N;
  using Cells = Mirror<double>;

  /// The random program of a seed; `dropped` statements, by number, are left out.
  explicit ViewsFuzz(std::uint64_t seed, std::vector<bool> const& dropped = {})
      : seed_(seed), dropped_(dropped), numbers_(mix(seed, 0)), mesh_(numbers_.mesh()) {
    length_ = numbers_.below(6) + 1;
    for (std::size_t k = 0; k < arrays; ++k) {
      auto const shape = numbers_.shape(N);
      m_.push_back(Cells::made_of(
          shape, [&](Index const&) { return static_cast<double>(numbers_.between(-8, 8)) * 0.3; }));
      u_.push_back(spread_out<double, N>(m_[k], numbers_.sharding(mesh_, shape)));
      log_ << "  array " << k << ' ' << shape << ' ' << u_[k].sharding() << '\n';
    }
  }

  /// True if all reductions, and all arrays at the end, agree with the mirror.
  bool run() {
    bool good = true;
    for (std::size_t s = 0; s < length_ && good; ++s) {
      numbers_ = ViewNumbers(mix(seed_, s + 1));
      if (s < dropped_.size() && dropped_[s]) continue;
      log_ << "  statement " << s;
      good = agree(carry_out()) && (!checks_all() || arrays_agree());
    }
    good = good && arrays_agree();
    if (!good && !is_silent_ && process().value() == 0)
      MESSAGE("seed ", seed_, ", ", N, " dimensions\n", log_.str());
    return good;
  }

  void be_silent() { is_silent_ = true; }
  [[nodiscard]] std::size_t statements() const { return length_; }

 private:
  static constexpr std::size_t arrays = 3;

  // --- views beside their mirrors ----------------------------------------------------------------

  template <std::size_t... D>
  static auto slice(DistArray<double, N> const& u, Spans const& spans, std::index_sequence<D...>) {
    return u(range_of(spans[D])...);
  }

  // A slice, possibly transposed, of at most so many cells along each dimension.
  auto view_within(Shape const& most) {
    auto const k = numbers_.below(arrays);
    bool const is_turned = N > 1 && numbers_.one_in(3);
    Spans spans;
    for (std::size_t d = 0; d < N; ++d)
      spans.push_back(numbers_.span(m_[k].shape[d], most[is_turned ? N - 1 - d : d]));
    auto const part = slice(u_[k], spans, std::make_index_sequence<N>());
    auto cells = m_[k].slice(spans);
    log_ << " u" << k << '[';
    for (auto const& span : spans) log_ << span << ' ';
    log_ << (is_turned ? "]T" : "]");
    if (is_turned) return std::pair(transpose(part), turned(cells));
    return std::pair(part, cells);
  }
  auto any_view() { return view_within(Shape(N, 1000)); }

  static Cells turned(Cells const& m) {
    std::vector<std::size_t> order;
    for (std::size_t d = N; d-- > 0;) order.push_back(d);
    return transposed(m, order);
  }

  // A view that is padded to a shape, or shifted if it already has the shape.
  auto padded_to(Shape const& shape) {
    auto const [part, cells] = view_within(shape);
    auto const edges = numbers_.edges(cells.shape);
    auto const boundaries = boundaries_of(edges);
    std::array<std::int64_t, N> low;
    std::array<std::int64_t, N> high;
    Index offsets;
    for (std::size_t d = 0; d < N; ++d) {
      low[d] = numbers_.between(0, shape[d] - cells.shape[d]);
      high[d] = shape[d] - cells.shape[d] - low[d];
      offsets.push_back(numbers_.between(-3, 3));
    }
    for (auto const& both : edges)
      log_ << ' ' << to_string(both.below.kind) << '/' << to_string(both.above.kind);
    if (cells.shape == shape && numbers_.one_in(2)) {
      log_ << " shifted by " << offsets;
      std::array<std::int64_t, N> by;
      for (std::size_t d = 0; d < N; ++d) by[d] = offsets[d];
      return std::pair(detail::shift_by<Boundaries>(part, by, boundaries, {}),
                       cells.shifted(offsets, edges));
    }
    Index const below(low.begin(), low.end());
    log_ << " padded by " << below << " to " << shape;
    return std::pair(detail::make_padded<Boundaries>(part, low, high, boundaries, {}),
                     cells.padded(below, Index(high.begin(), high.end()), edges));
  }
  // The shape with one cell along some dimensions replaced by many.
  Shape broadcast_from(Shape shape) {
    for (auto& extent : shape)
      if (extent == 1) extent = numbers_.between(0, 9);
    return shape;
  }

  // --- statements --------------------------------------------------------------------------------

  bool carry_out() {
    switch (numbers_.between(0, N == 1 ? 10 : 8)) {
      case 0: {
        auto const [e, m] = any_view();
        return agrees(e, m);
      }
      case 1: {
        auto const [e, m] = padded_to(numbers_.shape(N));
        return agrees(e, m);
      }
      case 2: {
        auto const [e, m] = padded_to(numbers_.shape(N));
        return agrees(transpose(e), turned(m));
      }
      case 3:
        return reduce_two_padded();
      case 4:
        return reduce_chosen();
      case 5:
        return reduce_broadcast();
      case 6:
        return assign_padded();
      case 7:
        return concatenate_padded();
      case 8:
        return repeat_view();
      default:
        return reduce_new_dimension();
    }
  }

  template <Expression E>
  bool agrees(E const& e, Cells const& m) {
    return RandomReduction(numbers_, log_).agrees(e, m);
  }

  bool reduce_two_padded() {
    auto const shape = numbers_.shape(N);
    auto const [a, of_a] = padded_to(shape);
    auto const [b, of_b] = padded_to(shape);
    auto const wanted = combined<double>(
        shape, [](double x, double y) { return x + 0.5 * y; }, of_a, of_b);
    return agrees(a + 0.5 * b, wanted);
  }

  bool reduce_chosen() {
    auto const [view, of_view] = any_view();
    auto const shape = broadcast_from(of_view.shape);
    auto const [a, of_a] = padded_to(shape);
    auto const wanted = combined<double>(
        shape, [](double x, double y) { return x > 0 ? y : x; }, of_a, of_view);
    return agrees(where(a > 0, view, a), wanted);
  }

  bool reduce_broadcast() {
    auto const [view, of_view] = any_view();
    auto const shape = broadcast_from(of_view.shape);
    auto const [a, of_a] = padded_to(shape);
    if (numbers_.one_in(2)) {
      auto const wanted = combined<double>(
          shape, [](double x, double y) { return x * y; }, of_view, of_a);
      return agrees(view * a, wanted);
    }
    auto const wanted = combined<double>(
        shape, [](double x, double y) { return x - y; }, of_a, of_view);
    return agrees(a - view, wanted);
  }

  bool assign_padded() {
    auto const [e, m] = padded_to(numbers_.shape(N));
    replace(DistArray<double, N>(e), m);
    return true;
  }

  bool concatenate_padded() {
    auto const d = numbers_.below(N);
    auto shape = numbers_.shape(N);
    auto const [a, of_a] = padded_to(shape);
    shape[d] = numbers_.between(0, 5);
    auto const [b, of_b] = padded_to(shape);
    replace(concatenate(static_cast<std::int64_t>(d), a, b), joined(of_a, of_b, d));
    return true;
  }

  bool repeat_view() {
    auto const d = numbers_.below(N);
    auto const [view, of_view] = view_within(Shape(N, 7));
    auto const count = numbers_.one_in(4) ? numbers_.between(4, 9) : numbers_.between(0, 3);
    replace(repeat(view, count, static_cast<std::int64_t>(d)), repeated(of_view, count, d));
    return true;
  }

  // An array takes other cells, in its new place or in another.
  void replace(DistArray<double, N> made, Cells const& m) {
    auto const k = numbers_.below(arrays);
    log_ << " to u" << k << '\n';
    if (numbers_.one_in(3)) made = reshard(made, numbers_.sharding(mesh_, m.shape));
    u_[k] = std::move(made);
    m_[k] = m;
  }

  // Arrays side by side, and a row as a plane of one row.
  bool reduce_new_dimension() {
    if constexpr (N == 1) {
      auto const shape = numbers_.shape(1);
      if (numbers_.one_in(2)) return reduce_plane_of_row();
      auto const [a, of_a] = padded_to(shape);
      auto const [b, of_b] = padded_to(shape);
      auto const row = [](Cells m) {
        m.shape = {1, m.shape[0]};
        return m;
      };
      bool const is_first = numbers_.one_in(2);
      auto const wanted = joined(row(of_a), row(of_b), 0);
      return agrees(stack(is_first ? 0 : 1, a, b), is_first ? wanted : transposed(wanted, {1, 0}));
    }
    return true;
  }

  bool reduce_plane_of_row() {
    auto [view, cells] = any_view();
    auto edges = numbers_.edges({1, cells.shape[0]});
    edges[0] = {{BoundaryKind::edge, 0}, {BoundaryKind::symmetric, 0}};  // a constant is refused
    Index const low{numbers_.between(0, 3), numbers_.between(0, cells.shape[0] == 0 ? 0 : 9)};
    Index const high{numbers_.between(0, 2), low[1] / 2};
    log_ << " as a plane, padded by " << low << ' ' << high;
    auto const plane = view(newaxis, all);
    cells.shape = {1, cells.shape[0]};
    std::array<std::int64_t, 2> const below{low[0], low[1]};
    std::array<std::int64_t, 2> const above{high[0], high[1]};
    return agrees(detail::make_padded<Boundaries>(plane, below, above, boundaries_of(edges), {}),
                  cells.padded(low, high, edges));
  }

  bool arrays_agree() {
    bool good = true;
    for (std::size_t k = 0; k < arrays; ++k) {
      good = agree(u_[k].shape() == m_[k].shape && holds(u_[k], m_[k])) && good;
      if (!good) log_ << "  array " << k << " is wrong\n";
    }
    return good;
  }

  std::uint64_t seed_;
  std::vector<bool> dropped_;
  ViewNumbers numbers_;
  Mesh mesh_;
  std::size_t length_ = 1;
  std::vector<DistArray<double, N>> u_;
  std::vector<Cells> m_;
  std::ostringstream log_;
  bool is_silent_ = false;
};

}  // namespace tessera::test
