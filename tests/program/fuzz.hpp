#pragma once
/// @file
/// Random loops, recorded and cut into blocks and tiles of every size, against the plain loop: all
/// arrays have to end with the same bits.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/plan/access.hpp"
#include "src/runtime/engine.hpp"

#include "support/agree.hpp"
#include "support/boundaries.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

#include "neighbours.hpp"

namespace tessera::test {

enum class BodyKind : std::uint8_t {
  slices,      ///< slices side by side, with strides
  neighbours,  ///< shifts past every kind of edge
  stencil,     ///< inner cells of an array from itself
  choose,      ///< where, of a mask, and a function
  masked,      ///< writes where a mask is true
  counted,     ///< the number of the step, and coordinates
  contracted,  ///< products fused into sums
  named,       ///< an expression that is read several times
  row,         ///< one cell along the first dimension
  table,       ///< an array of one dimension that every device has, in either direction
  copy,        ///< array to array
  swap,
  made,     ///< an array that the step makes
  moved,    ///< an array that the step makes and moves into another
  scalar,   ///< the value of a reduction before the loop
  reduced,  ///< a reduction inside the loop
  totals,   ///< a reduction of some cells, whose value is kept
  most,     ///< the same of the largest
  known,    ///< the value that was kept last, in this step or an earlier one
  turned,   ///< cells read backwards: no block can do that
  count
};

/// One statement of a body with its numbers. Which of them count depends on the kind.
struct BodyStatement {
  BodyKind kind = BodyKind::copy;
  std::size_t a = 0, b = 0, c = 0;  ///< arrays: a is written
  std::vector<Range> in_a, in_b, in_c;
  std::vector<std::int64_t> offsets;
  std::vector<Boundaries> edges;
  double number = 0;

  friend std::ostream& operator<<(std::ostream& out, BodyStatement const& s) {
    return out << "{kind " << static_cast<int>(s.kind) << ", arrays " << s.a << ' ' << s.b << ' '
               << s.c << ", offsets " << join(s.offsets, "(", ")") << '}';
  }
};

template <std::size_t N>
class LoopFuzz {
 public:
  explicit LoopFuzz(std::uint64_t seed) : random_(seed) {
    constexpr std::array<std::int64_t, 4> most{0, 40, 14, 8};
    Shape shape;
    for (std::size_t d = 0; d < N; ++d) shape.push_back(random_.between(1, most[N]));
    sharding_.emplace(random_sharding(random_, device_count(), shape));
    shapes_.assign(arrays, shape);
    if (random_.between(0, 2) == 0) stagger();
    reduces_ = random_.between(0, 2) == 0;
    steps_ = random_.between(2, 17);
    // Enough for graphs of GPUs to pay.
    if (random_.between(0, 3) == 0) steps_ *= 4;
    auto const statements = random_.between(1, 4);
    for (std::int64_t s = 0; s < statements; ++s) body_.push_back(random_statement());
  }

  /// What it ran in.
  struct Ran {
    bool is_right = true;
    bool in_blocks = false;
    bool in_graphs = false;
    bool staggered = false;  // in blocks, with arrays of several shapes
    bool reduced = false;    // in blocks, with reductions
  };
  Ran check() {
    auto const plain = run([&](auto const& body) {
      for (std::int64_t s = 0; s < steps_; ++s) body(Step(s));
    });
    Ran ran;
    for (int round = 0; round < 3; ++round) {
      auto const how = random_options();
      auto const first = random_.between(0, steps_);
      auto const result = run([&](auto const& body) {
        auto program = record(body, how);
        program.run(first);
        program.run(steps_ - first);
        auto const explanation = program.explain();
        ran.in_blocks = ran.in_blocks || explanation.depth > 0;
        ran.in_graphs = ran.in_graphs || explanation.graph_blocks > 0;
      });
      INFO("depth ", how.depth, ", tile ", how.tile, how.overlap.value_or(false) ? ", overlap" : "",
           how.graphs ? "" : ", no graphs", ", runs of ", first, " and ", steps_ - first, " steps");
      INFO("shapes ", join(shapes_), " on ", *sharding_, ", statements ", join(body_, "", ""));
      ran.is_right = agree(result == plain);
      CHECK(ran.is_right);
      if (!ran.is_right) return ran;
    }
    ran.reduced = ran.in_blocks && std::ranges::any_of(body_, [](auto const& s) {
                    return s.kind == BodyKind::reduced || s.kind == BodyKind::totals ||
                           s.kind == BodyKind::most;
                  });
    ran.staggered = ran.in_blocks && !(shapes_[0] == shapes_[1] && shapes_[0] == shapes_[2]);
    return ran;
  }

 private:
  using Array = DistArray<double, N>;
  static constexpr std::size_t arrays = 3;
  using Values = std::vector<std::vector<std::uint64_t>>;
  // The values of two reductions of a step.
  struct Kept {
    Scalar<double> last, older;
  };

  LoopOptions random_options() {
    constexpr std::array<std::int64_t, 6> depths{0, 1, 2, 3, 7, 20};
    constexpr std::array<std::int64_t, 6> extents{0, 1, 2, 3, 7, 1000};
    LoopOptions how;
    how.depth = depths[static_cast<std::size_t>(random_.between(0, 5))];
    if (auto const choice = random_.between(0, 3); choice < 2) how.overlap = choice == 1;
    how.graphs = random_.between(0, 4) > 0;
    if (random_.between(0, 4) == 0) return how;
    for (std::size_t d = 0; d < N; ++d)
      how.tile.push_back(extents[static_cast<std::size_t>(random_.between(0, 5))]);
    return how;
  }

  // Gives the other arrays a cell less or more along some dimensions, where the sharding takes it.
  void stagger() {
    for (std::size_t a = 1; a < arrays; ++a) {
      auto shape = shapes_[0];
      for (auto& extent : shape)
        extent = std::max<std::int64_t>(extent + random_.between(-1, 1), 1);
      try {
        sharding_->check(shape);
        shapes_[a] = shape;
      } catch (ShardingError const&) {
        shapes_[a] = shapes_[0];
      }
    }
  }

  [[nodiscard]] bool is_staggered(BodyStatement const& s) const {
    return !(shapes_[s.a] == shapes_[s.b] && shapes_[s.a] == shapes_[s.c]);
  }

  std::size_t any_array() { return static_cast<std::size_t>(random_.between(0, arrays - 1)); }

  // Rare kinds, which keep a loop from being cut into blocks, come rarely.
  BodyKind random_kind() {
    auto const draw = random_.between(0, 39);
    if (draw == 0 || (reduces_ && draw < 20)) {
      constexpr std::array kinds{BodyKind::reduced, BodyKind::totals, BodyKind::most,
                                 BodyKind::known};
      return kinds[static_cast<std::size_t>(random_.between(0, 3))];
    }
    if (draw == 1) return BodyKind::turned;
    if (draw == 2) return BodyKind::moved;
    if (draw < 5) return BodyKind::made;
    if (draw < 8) return BodyKind::swap;
    return static_cast<BodyKind>(random_.between(0, static_cast<int>(BodyKind::copy)));
  }

  BodyStatement random_statement() {
    BodyStatement s;
    s.kind = random_.between(0, 19) == 0 ? BodyKind::scalar : random_kind();
    s.a = any_array();
    s.b = any_array();
    s.c = any_array();
    s.number = static_cast<double>(random_.between(1, 9)) / 10;
    // Of arrays of several shapes, only slices have one shape.
    if (is_staggered(s) && random_.between(0, 3) > 0) s.kind = BodyKind::slices;
    if (is_staggered(s) && s.kind != BodyKind::slices) s.b = s.c = s.a;
    for (std::size_t d = 0; d < N; ++d) {
      if (is_staggered(s))
        add_staggered_ranges(s, d);
      else
        add_ranges(s, shapes_[s.a][d]);
      s.offsets.push_back(random_.between(-2, 2));
      s.edges.push_back(random_edges());
    }
    return s;
  }

  // Cells of a, and of b and c at a distance.
  void add_ranges(BodyStatement& s, std::int64_t extent) {
    auto const ranges = random_neighbours(random_, extent);
    s.in_a.push_back(ranges.written);
    s.in_b.push_back(ranges.one);
    s.in_c.push_back(ranges.other);
  }

  // As many cells of a, of b and of c, at most two cells apart where the shapes allow it.
  void add_staggered_ranges(BodyStatement& s, std::size_t d) {
    auto const extent = [&](std::size_t array) { return shapes_[array][d]; };
    auto const most = std::min({extent(s.a), extent(s.b), extent(s.c)});
    auto const count = std::max<std::int64_t>(most - random_.between(0, 3), 0);
    auto const lo = random_.between(0, extent(s.a) - count);
    auto const step = random_.between(0, 3) == 0 ? 2 : 1;
    auto const beside = [&](std::size_t array) {
      auto const at =
          std::clamp<std::int64_t>(lo + random_.between(-2, 2), 0, extent(array) - count);
      return range(at, at + count, step);
    };
    s.in_a.push_back(range(lo, lo + count, step));
    s.in_b.push_back(beside(s.b));
    s.in_c.push_back(beside(s.c));
  }

  Boundaries random_edges() {
    if (random_.between(0, 2) == 0) return periodic;
    auto const one = [&] {
      auto const kind = random_end(random_);
      return kind == BoundaryKind::constant ? constant(0.25) : Boundary(kind);
    };
    return {one(), one()};
  }

  // Some loops grow beyond all numbers. Every NaN counts as one, as in `hash`.
  static std::vector<std::uint64_t> bits_of_cells(std::vector<double> const& cells) {
    std::vector<std::uint64_t> bits;
    for (auto const cell : cells)
      bits.push_back(std::isnan(cell) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(cell));
    return bits;
  }

  template <class Loop>
  Values run(Loop const& loop) {
    std::vector<Array> u;
    for (std::size_t a = 0; a < arrays; ++a) {
      std::array<std::int64_t, N> extents;
      std::copy(shapes_[a].begin(), shapes_[a].end(), extents.begin());
      u.push_back(from_index<double>(extents, *sharding_, [=](auto i) {
        std::uint64_t hash = a;
        for (std::size_t d = 0; d < N; ++d) hash = mix(hash, static_cast<std::uint64_t>(i[d]));
        return static_cast<double>(hash >> 11U) * 0x1p-53;
      }));
    }
    tables_.clear();
    NamedSharding const everywhere(sharding_->mesh(), P(none));
    for (std::size_t a = 0; a < arrays; ++a)
      tables_.push_back(from_index<double>({shapes_[a][N - 1]}, everywhere, [](auto i) {
        return 1.0 / static_cast<double>(i[0] + 2);
      }));
    series_ = from_index<double>({80, 1}, {sharding_->mesh(), P(none, none)},
                                 [](auto i) { return 1.0 / static_cast<double>(i[0] + 1); });
    auto const before = sum(u[0]) * 0.01;
    Kept kept{sum(u[1]), sum(u[2])};
    loop([&](Step t) {
      for (auto const& s : body_)
        if (s.kind < BodyKind::scalar)
          carry_out(s, u, t);
        else
          carry_out_scalar(s, u, before, kept);
    });
    Values values;
    values.push_back(bits_of_cells({kept.last.value(), kept.older.value()}));
    for (auto const& array : u) values.push_back(bits_of_cells(array.to_host()));
    return values;
  }

  template <class A>
  static auto slice(A& array, std::vector<Range> const& ranges) {
    return [&]<std::size_t... d>(std::index_sequence<d...>) {
      return array(ranges[d]...);
    }
    (std::make_index_sequence<N>());
  }
  template <class A>
  static auto shifted(A& array, BodyStatement const& s) {
    return [&]<std::size_t... d>(std::index_sequence<d...>) {
      return shift(array, {s.offsets[d]...}, {s.edges[d]...});
    }
    (std::make_index_sequence<N>());
  }
  // All cells whose first coordinate is `at`, as many dimensions less one.
  template <class A>
  static auto row(A& array, std::int64_t at) {
    return [&]<std::size_t... d>(std::index_sequence<d...>) {
      return array(at, ((void)d, tessera::all)...);
    }
    (std::make_index_sequence<N - 1>());
  }

  void carry_out(BodyStatement const& s, std::vector<Array>& u, Step t) {
    auto& a = u[s.a];
    auto& b = u[s.b];
    auto& c = u[s.c];
    switch (s.kind) {
      case BodyKind::slices:
        slice(a, s.in_a) = s.number * slice(b, s.in_b) + 0.1 * slice(c, s.in_c);
        return;
      case BodyKind::neighbours:
        a = s.number * shifted(b, s) + 0.1 * c;
        return;
      case BodyKind::stencil:
        slice(a, s.in_a) = 0.7 * slice(a, s.in_a) + 0.1 * slice(a, s.in_b) + 0.1 * slice(a, s.in_c);
        return;
      case BodyKind::choose:
        a = where(b > s.number, 0.9 * c, sin(shifted(b, s)));
        return;
      case BodyKind::masked:
        a(c > s.number) = 0.3 * b;
        return;
      case BodyKind::counted:
        a = 0.9 * b + 0.01 * (t + index(0));
        return;
      case BodyKind::contracted:
        a = contract(s.number * b - 0.1 * c * shifted(b, s));
        return;
      case BodyKind::named: {
        auto const sum = let(0.2 * b + s.number * c);
        a = sum * sum + 0.1 * shifted(sum, s);
        return;
      }
      case BodyKind::row:
        row(a, 0) = s.number * row(b, shapes_[s.a][0] - 1 > 1 ? 1 : 0);
        return;
      case BodyKind::table: {
        auto const& table = tables_[s.a];
        if (s.offsets[0] > 0)
          a = s.number * b + 0.1 * table * c;
        else if (s.offsets[0] < 0)
          a = s.number * b + 0.1 * (*series_)(t + 1, all) * c;
        else
          a = s.number * b + 0.1 * table(range(none, none, -1));
        return;
      }
      case BodyKind::copy:
        a = b;
        return;
      case BodyKind::swap:
        if (s.a != s.b) std::swap(a, b);
        return;
      default:
        make_array(s, u);
    }
  }

  void make_array(BodyStatement const& s, std::vector<Array>& u) {
    auto& a = u[s.a];
    auto& b = u[s.b];
    if (s.kind == BodyKind::made) {
      Array const w = 0.5 * b + 0.25 * shifted(a, s);
      a = 0.9 * w;
    } else if (s.kind == BodyKind::moved) {
      Array w = 0.5 * b + 0.25 * shifted(a, s);
      a = std::move(w);
    }
  }

  template <class Mean>
  void carry_out_scalar(BodyStatement const& s, std::vector<Array>& u, Mean const& mean,
                        Kept& kept) {
    auto& a = u[s.a];
    auto& b = u[s.b];
    if (s.kind == BodyKind::scalar) {
      a = 0.5 * b + mean;
    } else if (s.kind == BodyKind::reduced) {
      a = 0.5 * a + 0.001 * sum(b * shifted(b, s));
    } else if (s.kind == BodyKind::totals) {
      kept.older = kept.last;
      kept.last = sum(slice(b, s.in_b) - 0.1 * slice(u[s.c], s.in_c));
    } else if (s.kind == BodyKind::most) {
      kept.last = max(b + s.number * shifted(b, s));
    } else if (s.kind == BodyKind::known) {
      a = 0.5 * b + 0.001 * kept.last;
    } else {
      std::vector<Range> backwards(N, range(none, none, -1));
      a = 0.5 * b + 0.4 * slice(b, backwards);
    }
  }

  Random random_;
  std::vector<Shape> shapes_;  // of the arrays
  std::optional<NamedSharding> sharding_;
  std::optional<DistArray<double, 2>> series_;  // a row for each step
  std::vector<DistArray<double, 1>> tables_;    // along the last dimension of each array
  std::int64_t steps_ = 0;
  bool reduces_ = false;  // its statements are often reductions
  std::vector<BodyStatement> body_;
};

template <std::size_t N>
void fuzz_loops(std::int64_t usual_cases) {
  std::int64_t in_blocks = 0;
  std::int64_t in_graphs = 0;
  std::int64_t staggered = 0;
  std::int64_t reduced = 0;
  auto const seeds = seeds_to_run(usual_cases);
  auto const failed = failed_seeds(seeds, [&](std::uint64_t seed) {
    auto const ran = LoopFuzz<N>(seed).check();
    in_blocks += ran.in_blocks ? 1 : 0;
    in_graphs += ran.in_graphs ? 1 : 0;
    staggered += ran.staggered ? 1 : 0;
    reduced += ran.reduced ? 1 : 0;
    return ran.is_right;
  });
  CHECK(failed == 0);
  MESSAGE(in_blocks, " of ", seeds.count, " loops ran in blocks, ", in_graphs,
          " in graphs of a GPU, ", staggered, " on staggered grids, ", reduced, " with reductions");
  // What is rare comes up in the usual loops and in many, but not in just any sixty.
  if (seeds.are_chosen && seeds.count < 200) return;
  CHECK(in_blocks * 4 > seeds.count);
  CHECK(staggered > 0);
  if (device_kind() == DeviceKind::cpu)
    CHECK(reduced > 0);
  else
    CHECK(in_graphs > 0);
}

}  // namespace tessera::test
