#pragma once
/// @file
/// Cycles over meshes of cubes, by hand: MPI, each mesh cut into slabs of planes, the inner planes
/// computed while the outermost ones travel. What a row's cells read several times, sums of rows,
/// is computed once, into buffers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "raw/cut.hpp"
#include "raw/streaming.hpp"
#include "slab.hpp"

namespace raw {

/// Weights of a cell and of its neighbours across faces, edges and corners.
struct Weights {
  double centre, face, edge, corner;
};

/// The planes of this process of a cube of n cells along each side, all 0, and a plane more before
/// and behind.
class Cube {
 public:
  explicit Cube(std::int64_t n)
      : n_(n),
        planes_(n, process_count(), own_rank(), false),
        slab_(planes_.first, planes_.first + planes_.count, n * pitch(), {1, 1}) {}

  [[nodiscard]] std::int64_t n() const { return n_; }
  [[nodiscard]] std::int64_t first() const { return slab_.first(); }
  [[nodiscard]] std::int64_t past() const { return slab_.past(); }
  /// The planes that change.
  [[nodiscard]] Span inner() const { return {first() + planes_.lo, first() + planes_.hi}; }
  [[nodiscard]] double* row(std::int64_t i, std::int64_t j) const {
    return slab_.row(i) + j * pitch();
  }

  /// Calls update(planes) for parts of `planes`, for those in `early` before the planes around this
  /// process's have arrived.
  template <class Update>
  void with_halo(Reach reach, Span planes, Span early, Update const& update) {
    auto const lo = std::clamp(early.lo, planes.lo, planes.hi);
    auto const hi = std::clamp(early.hi, lo, planes.hi);
    slab_.start(reach);
    update(Span{lo, hi});
    slab_.wait();
    update(Span{planes.lo, lo});
    update(Span{hi, planes.hi});
  }

 private:
  [[nodiscard]] std::int64_t pitch() const { return whole_lines(n_); }

  std::int64_t n_;
  Cut planes_;
  Slab slab_;
};

/// Calls f(cell, value) for the cells of this process; `cell` counts those of the cube.
template <class F>
void for_values(Cube const& u, F const& f) {
  auto const n = u.n();
  for (auto i = u.first(); i < u.past(); ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < n; ++k) f((i * n + j) * n + k, u.row(i, j)[k]);
}

/// Buffers for a row of the finest mesh.
struct RowSums {
  std::vector<double> faces, corners;

  explicit RowSums(std::int64_t n)
      : faces(static_cast<std::size_t>(n)), corners(static_cast<std::size_t>(n)) {}

  /// Of the rows beside row (i, j): four across faces, four across edges.
  void add_up(Cube const& u, std::int64_t i, std::int64_t j) {
    double const* const above = u.row(i - 1, j);
    double const* const below = u.row(i + 1, j);
    double const* const left = u.row(i, j - 1);
    double const* const right = u.row(i, j + 1);
    double const* const above_left = u.row(i - 1, j - 1);
    double const* const above_right = u.row(i - 1, j + 1);
    double const* const below_left = u.row(i + 1, j - 1);
    double const* const below_right = u.row(i + 1, j + 1);
    for_cells(0, u.n(), [=, f = faces.data(), c = corners.data()](auto k) {
      f[k] = above[k] + below[k] + left[k] + right[k];
      c[k] = above_left[k] + above_right[k] + below_left[k] + below_right[k];
    });
  }
};

/// Row (i, j) of a cube, and the sums of the rows beside it.
struct RowAround {
  std::int64_t i, j;
  double const* now;
  double const* faces;
  double const* corners;
};

/// Calls write(row) for the inner rows of u, those whose neighbours are here while the others'
/// travel.
template <class Write>
void for_rows_around(Cube& u, RowSums& sums, Write const& write) {
  auto const update = [&](Span planes) {
    for (auto i = planes.lo; i < planes.hi; ++i) {
      for (std::int64_t j = 1; j < u.n() - 1; ++j) {
        sums.add_up(u, i, j);
        write(RowAround{i, j, u.row(i, j), sums.faces.data(), sums.corners.data()});
      }
    }
  };
  u.with_halo({1, 1}, u.inner(), {u.first() + 1, u.past() - 1}, update);
}

/// r = f - A u, where A has no weights across faces.
inline void find_residual(Cube& u, Cube const& f, Cube& r, Weights const& a, RowSums& sums) {
  for_rows_around(u, sums, [&](RowAround const& row) {
    double const* const wanted = f.row(row.i, row.j);
    auto* const left = r.row(row.i, row.j);
    for_cells(1, u.n() - 1, [=, now = row.now, faces = row.faces, corners = row.corners](auto k) {
      left[k] =
          wanted[k] - (a.centre * now[k] + a.edge * (corners[k] + faces[k - 1] + faces[k + 1]) +
                       a.corner * (corners[k - 1] + corners[k + 1]));
    });
  });
}

/// z += S r, where S has no weights across corners.
inline void smooth(Cube& r, Cube& z, Weights const& s, RowSums& sums) {
  for_rows_around(r, sums, [&](RowAround const& row) {
    auto* const to = z.row(row.i, row.j);
    for_cells(1, r.n() - 1, [=, now = row.now, faces = row.faces, corners = row.corners](auto k) {
      to[k] += s.centre * now[k] + s.face * (now[k - 1] + now[k + 1] + faces[k]) +
               s.edge * (corners[k] + faces[k - 1] + faces[k + 1]);
    });
  });
}

/// Each inner coarse cell becomes a weighted sum of the fine ones around it.
inline void restrict_cells(Cube& fine, Cube& coarse, Weights const& p, RowSums& sums) {
  auto const update_row = [&](std::int64_t i, std::int64_t j) {
    sums.add_up(fine, 2 * i, 2 * j);
    auto* const to = coarse.row(i, j);
    double const* const now = fine.row(2 * i, 2 * j);
    for_cells(1, coarse.n() - 1,
              [=, faces = sums.faces.data(), corners = sums.corners.data()](auto k) {
                auto const at = 2 * k;
                to[k] = p.centre * now[at] + p.face * (now[at - 1] + now[at + 1] + faces[at]) +
                        p.edge * (corners[at] + faces[at - 1] + faces[at + 1]) +
                        p.corner * (corners[at - 1] + corners[at + 1]);
              });
  };
  auto const update = [&](Span planes) {
    for (auto i = planes.lo; i < planes.hi; ++i)
      for (std::int64_t j = 1; j < coarse.n() - 1; ++j) update_row(i, j);
  };
  fine.with_halo({0, 1}, coarse.inner(), {coarse.first(), coarse.past() - 1}, update);
}

/// A row of a fine mesh from one of a coarse one: put(cell, value) is given each of its cells.
template <class Put>
void prolong_row(double const* from, std::int64_t n, double weight, double* to, Put const& put) {
  auto const half = 0.5 * weight;
  for_cells(0, n - 1, [=](auto k) {
    put(to[2 * k], weight * from[k]);
    put(to[2 * k + 1], half * (from[k] + from[k + 1]));
  });
  put(to[2 * n - 2], weight * from[n - 1]);
}

/// Plane i of a fine mesh: an even one lies on a plane of the coarse mesh, others lie between two.
template <class Put>
void prolong_plane(Cube const& coarse, Cube& fine, std::int64_t i, RowSums& sums, Put const& put) {
  auto const n = coarse.n();
  auto const weight = i % 2 == 0 ? 1.0 : 0.5;
  auto* row = sums.faces.data();
  auto* next = sums.corners.data();
  auto const add_up = [&](std::int64_t j, double* to) {
    double const* const before = coarse.row(i / 2, j);
    double const* const behind = coarse.row((i + 1) / 2, j);
    if (i % 2 == 0)
      std::copy_n(before, n, to);
    else
      for_cells(0, n, [=](auto k) { to[k] = before[k] + behind[k]; });
  };
  add_up(0, row);
  for (std::int64_t j = 0; j + 1 < n; ++j) {
    add_up(j + 1, next);
    prolong_row(row, n, weight, fine.row(i, 2 * j), put);
    for_cells(0, n, [=](auto k) { row[k] += next[k]; });
    prolong_row(row, n, 0.5 * weight, fine.row(i, 2 * j + 1), put);
    std::swap(row, next);
  }
  prolong_row(row, n, weight, fine.row(i, 2 * n - 2), put);
}

/// The fine cells from the coarse ones around them.
template <class Put>
void prolong(Cube& coarse, Cube& fine, RowSums& sums, Put const& put) {
  Span const planes{fine.first(), fine.past()};
  coarse.with_halo({1, 0}, planes, {planes.lo + 1, planes.hi}, [&](Span part) {
    for (auto i = part.lo; i < part.hi; ++i) prolong_plane(coarse, fine, i, sums, put);
  });
}

/// Cycles that solve A u = f on a cube.
class Multigrid {
 public:
  struct Operators {
    Weights a, s, p;
  };

  /// `extents` are the cells along a side, from the coarsest mesh to the finest; each coarse mesh
  /// must be cut where the fine one is.
  Multigrid(std::vector<std::int64_t> const& extents, Operators const& operators)
      : operators_(operators), f_(extents.back()), sums_(extents.back()) {
    for (auto const n : extents) {
      r_.emplace_back(n);
      z_.emplace_back(n);
    }
  }

  /// Sets f(i, j, k), and u = 0.
  template <class F>
  void fill(F const& f) {
    auto const n = f_.n();
    for (auto i = f_.first(); i < f_.past(); ++i)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t k = 0; k < n; ++k) f_.row(i, j)[k] = r_.back().row(i, j)[k] = f(i, j, k);
  }

  void step() {
    auto const assign = [](double& to, double value) { to = value; };
    auto const add = [](double& to, double value) { to += value; };
    auto const& [a, s, p] = operators_;
    auto const finest = r_.size() - 1;
    for (auto m = finest; m > 0; --m) restrict_cells(r_[m], r_[m - 1], p, sums_);
    clear(z_[0]);
    smooth(r_[0], z_[0], s, sums_);
    for (std::size_t m = 1; m < finest; ++m) {
      prolong(z_[m - 1], z_[m], sums_, assign);
      find_residual(z_[m], r_[m], r_[m], a, sums_);
      smooth(r_[m], z_[m], s, sums_);
    }
    auto& u = z_[finest];
    prolong(z_[finest - 1], u, sums_, add);
    find_residual(u, f_, r_[finest], a, sums_);
    smooth(r_[finest], u, s, sums_);
    find_residual(u, f_, r_[finest], a, sums_);
  }

  [[nodiscard]] Cube const& u() const { return z_.back(); }
  [[nodiscard]] Cube const& r() const { return r_.back(); }

 private:
  static void clear(Cube& z) {
    for (auto i = z.first(); i < z.past(); ++i)
      for (std::int64_t j = 0; j < z.n(); ++j) std::fill_n(z.row(i, j), z.n(), 0.0);
  }

  Operators operators_;
  Cube f_;
  std::vector<Cube> r_, z_;  // the residual and the correction of each mesh; of the finest, u
  RowSums sums_;
};

}  // namespace raw
