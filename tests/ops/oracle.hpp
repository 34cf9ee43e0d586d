#pragma once
/// @file
/// Reductions the plain way, on the mirror: all terms of a cell in a list.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "src/index/index.hpp"
#include "src/ops/detail.hpp"

#include "support/mirror.hpp"

namespace tessera::test {

/// The terms of each cell of the result in row-major order, the cells in row-major order too.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> terms_along(Mirror<T> const& m,
                                                      std::vector<std::size_t> const& reduced) {
  Shape result;
  Index place(m.shape.size(), 0);
  auto const is_reduced = [&](std::size_t d) {
    return std::find(reduced.begin(), reduced.end(), d) != reduced.end();
  };
  for (std::size_t d = 0; d < m.shape.size(); ++d)
    if (!is_reduced(d)) result.push_back(m.shape[d]);
  auto const strides = row_major_strides(result);
  std::size_t next = 0;
  for (std::size_t d = 0; d < m.shape.size(); ++d)
    if (!is_reduced(d)) place[d] = strides[next++];
  std::vector<std::vector<T>> terms(static_cast<std::size_t>(cells_of(result)));
  for_each_cell(whole(m.shape), [&](Index const& i) {
    std::int64_t to = 0;
    for (std::size_t d = 0; d < m.shape.size(); ++d) to += i[d] * place[d];
    terms[static_cast<std::size_t>(to)].push_back(m.at(i));
  });
  return terms;
}

/// What `f` makes of the terms of each cell.
template <class T, class F>
[[nodiscard]] auto reduced_by(Mirror<T> const& m, std::vector<std::size_t> const& reduced,
                              F const& f) {
  std::vector<decltype(f(std::vector<T>{}))> values;
  for (auto const& terms : terms_along(m, reduced)) values.push_back(f(terms));
  return values;
}

inline double sum_of(std::vector<double> const& terms) {
  BinnedSum sum;
  sum.add(terms);
  return sum.value();
}
inline double mean_of(std::vector<double> const& terms) {
  return sum_of(terms) / static_cast<double>(terms.size());
}
inline double var_of(std::vector<double> terms, double ddof = 0) {
  auto const mean = mean_of(terms);
  auto const count = static_cast<double>(terms.size());
  for (auto& x : terms) x = (x - mean) * (x - mean);
  return sum_of(terms) / std::max(count - ddof, 0.0);
}
/// NumPy's: the first NaN, else the first of the smallest.
template <class T>
[[nodiscard]] std::int64_t argmin_of(std::vector<T> const& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (terms[i] != terms[i]) return static_cast<std::int64_t>(i);
  return std::min_element(terms.begin(), terms.end()) - terms.begin();
}

/// One after the other along an axis.
template <class T>
[[nodiscard]] Mirror<T> joined(Mirror<T> const& a, Mirror<T> const& b, std::size_t axis) {
  auto shape = a.shape;
  shape[axis] += b.shape[axis];
  return Mirror<T>::made_of(shape, [&](Index i) {
    if (i[axis] < a.shape[axis]) return a.at(i);
    i[axis] -= a.shape[axis];
    return b.at(i);
  });
}

/// Each cell `count` times along an axis.
template <class T>
[[nodiscard]] Mirror<T> repeated(Mirror<T> const& m, std::int64_t count, std::size_t axis) {
  auto shape = m.shape;
  shape[axis] *= count;
  return Mirror<T>::made_of(shape, [&](Index i) {
    i[axis] /= count;
    return m.at(i);
  });
}

}  // namespace tessera::test
