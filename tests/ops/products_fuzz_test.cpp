#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/runtime/runtime.hpp"

#include "src/base/text.hpp"

#include "support/agree.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using test::Random;

/// Random products on random layouts over 1 to 8 devices, of slices, transposed or not, into new
/// arrays and into slices: the bits are those of a plain loop.
TEST_SUITE_BEGIN("ops/products_fuzz");

namespace {

constexpr std::int64_t block = 256;

// One cell as products.hpp defines it.
template <class T, class Term>
T by_hand(T start, std::int64_t terms, Term const& term) {
  for (std::int64_t first = 0; first < terms; first += block) {
    T sum{};
    for (auto k = first; k < std::min(terms, first + block); ++k) {
      auto const [a, b] = term(k);
      if constexpr (std::is_floating_point_v<T>)
        sum = std::fma(a, b, sum);
      else if constexpr (std::is_integral_v<T>)
        sum = static_cast<T>(static_cast<std::uint64_t>(sum) +
                             static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
      else
        sum = {std::fma(-a.imag(), b.imag(), std::fma(a.real(), b.real(), sum.real())),
               std::fma(a.imag(), b.real(), std::fma(a.real(), b.imag(), sum.imag()))};
    }
    start = static_cast<T>(start + sum);
  }
  return start;
}

// The type in which the terms of T are added.
template <class T>
struct Summed {
  using type = T;
};
template <>
struct Summed<float16> {
  using type = float;
};

// Cells of a view in row-major order, on every process.
template <class T>
struct Dense {
  Shape shape;
  std::vector<T> cells;
};
template <class V>
auto dense(V const& view) {
  return Dense<typename V::value_type>{view.shape(), view.to_host()};
}

template <class T>
T number(std::array<std::int64_t, 3> const& at, std::int64_t seed) {
  auto const x =
      static_cast<double>((at[0] * 7919 + at[1] * 104729 + at[2] * 1299709 + seed) % 2003 - 1001);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::int64_t>(x) * 1000003);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(x / 97);
  else if constexpr (sizeof(T) == 2)
    return static_cast<T>(static_cast<float>(x / 970));
  else
    return T(static_cast<typename T::value_type>(x / 97),
             static_cast<typename T::value_type>(x / 13));
}

// A random part of a dimension that shows `extent` cells, and how long the dimension is.
struct Part {
  std::int64_t extent, length, first, step;
  Part(Random& random, std::int64_t cells) : extent(cells) {
    step = random.between(0, 3) == 0 ? random.between(2, 3) : 1;
    first = random.chance() ? 0 : random.between(0, 2);
    length = first + step * extent + (random.chance() ? 0 : random.between(0, 2));
    if (extent > 0 && random.between(0, 5) == 0) {
      first += step * (extent - 1);
      step = -step;
    }
  }
  [[nodiscard]] Range range() const {
    if (extent == 0) return tessera::range(0, 0);
    auto const last = first + step * (extent - 1);
    auto const end = last + (step > 0 ? 1 : -1);
    return end < 0 ? tessera::range(first, none, step) : tessera::range(first, end, step);
  }
};

// An array of N dimensions of which a slice has these extents.
template <class T, std::size_t N>
class Sliced {
 public:
  Sliced(Random& random, std::array<std::int64_t, N> const& extents, std::int64_t devices)
      : parts_(parts_of(random, extents)), array_(make(random, devices)) {}

  [[nodiscard]] auto view() { return shown(array_, std::make_index_sequence<N>()); }

 private:
  static std::vector<Part> parts_of(Random& random, std::array<std::int64_t, N> const& extents) {
    std::vector<Part> parts;
    for (auto const extent : extents) parts.emplace_back(random, extent);
    return parts;
  }
  DistArray<T, N> make(Random& random, std::int64_t devices) {
    std::array<std::int64_t, N> lengths;
    for (std::size_t d = 0; d < N; ++d) lengths[d] = parts_[d].length;
    auto const sharding = test::random_sharding(random, devices, Shape(lengths));
    auto const seed = random.between(0, 1000);
    return from_index<T, N>(lengths, sharding, [seed](auto const& i) {
      std::array<std::int64_t, 3> at{};
      for (std::size_t d = 0; d < N; ++d) at[d] = i[d];
      return number<T>(at, seed);
    });
  }
  template <std::size_t... d>
  auto shown(DistArray<T, N>& array, std::index_sequence<d...>) {
    return array(parts_[d].range()...);
  }

  std::vector<Part> parts_;
  DistArray<T, N> array_;
};

std::int64_t random_terms(Random& random) {
  constexpr std::int64_t lengths[] = {255, 256, 257, 300, 513};
  auto const kind = random.between(0, 11);
  return kind == 0 ? 0 : kind < 3 ? lengths[random.between(0, 4)] : random.between(1, 12);
}
std::int64_t random_extent(Random& random) {
  return random.between(0, 19) == 0 ? 0 : random.between(1, random.between(0, 9) == 0 ? 40 : 9);
}

// Enough for all, or so little that the product goes in slices.
std::int64_t random_memory(Random& random) {
  return random.between(0, 2) > 0 ? product_memory_bytes : random.between(1, 20000);
}

template <class T>
bool same(std::vector<T> const& a, std::vector<T> const& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Cells of a product of (batch, rows, terms) and (batch, terms, columns), where a batch of 1 is
// repeated.
template <class T>
std::vector<T> multiplied(Dense<T> const& a, Dense<T> const& b, Shape const& shape,
                          std::int64_t terms, Dense<T> const* start) {
  using Sum = typename Summed<T>::type;
  std::vector<T> result;
  auto const [batches, rows, columns] = std::array{shape[0], shape[1], shape[2]};
  for (std::int64_t p = 0; p < batches; ++p)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        auto const of_a = ((a.shape[0] == 1 ? 0 : p) * rows + i) * terms;
        auto const of_b = (b.shape[0] == 1 ? 0 : p) * terms * columns + j;
        auto const first = start == nullptr ? Sum{} : static_cast<Sum>(start->cells[result.size()]);
        result.push_back(static_cast<T>(by_hand<Sum>(first, terms, [&](std::int64_t k) {
          return std::pair(static_cast<Sum>(a.cells[static_cast<std::size_t>(of_a + k)]),
                           static_cast<Sum>(b.cells[static_cast<std::size_t>(of_b + k * columns)]));
        })));
      }
  return result;
}

// A product of matrices, on any layouts, into a new array and into a slice.
template <class T>
bool run_matrices(Random& random) {
  auto const devices = random.between(1, device_count());
  auto const m = random_extent(random), n = random_extent(random), k = random_terms(random);
  bool const turns_a = random.chance(), turns_b = random.chance();
  using Pair = std::array<std::int64_t, 2>;
  Sliced<T, 2> u(random, turns_a ? Pair{k, m} : Pair{m, k}, devices);
  Sliced<T, 2> v(random, turns_b ? Pair{n, k} : Pair{k, n}, devices);
  auto const of_u = u.view();
  auto const of_v = v.view();
  auto const check = [&](auto const& a, auto const& b) {
    auto left = dense(a);
    auto right = dense(b);
    left.shape = {1, m, k};
    right.shape = {1, k, n};
    Shape const shape{1, m, n};
    bool right_bits = true;
    if (random.chance()) {
      auto const c =
          random.chance()
              ? matmul(a, b)
              : matmul(a, b, {.sharding = test::random_sharding(random, devices, {m, n})});
      right_bits = same(c.to_host(), multiplied<T>(left, right, shape, k, nullptr));
    }
    Sliced<T, 2> c(random, {m, n}, devices);
    bool const adds = random.chance();
    auto const into = c.view();
    auto const before = dense(into);
    matmul_into(into, a, b, {.adds = adds, .memory_bytes = random_memory(random)});
    return right_bits &&
           same(into.to_host(), multiplied<T>(left, right, shape, k, adds ? &before : nullptr));
  };
  if (turns_a)
    return turns_b ? check(transpose(of_u), transpose(of_v)) : check(transpose(of_u), of_v);
  return turns_b ? check(of_u, transpose(of_v)) : check(of_u, of_v);
}

// Both operands cut along the terms, with borders within blocks of terms, and perhaps once more.
bool run_cut_terms(Random& random) {
  auto const devices = random.between(1, device_count());
  auto const m = random.between(1, 70), k = random.between(250, 1500);
  // Wide enough for several chunks of sums, now and then.
  auto const n = random.between(0, 3) > 0 ? random.between(1, 70) : random.between(128, 200);
  auto const rows = devices % 2 == 0 && random.chance() ? 2 : 1;
  Mesh const mesh({{"x", rows}, {"y", devices / rows}});
  auto const by_terms = [&](std::size_t dimension) {
    std::vector<SpecEntry> entries{none, none};
    std::vector<Cut> cuts(2, Cut::balanced());
    entries[dimension] = "y";
    cuts[dimension] = test::random_cut(random, k, devices / rows);
    if (random.chance()) entries[1 - dimension] = "x";
    return NamedSharding(mesh, PartitionSpec(entries), cuts);
  };
  auto const a = from_index<double, 2>({m, k}, by_terms(1), [](auto const& i) {
    return number<double>({i[0], i[1], 0}, 1);
  });
  auto const b = from_index<double, 2>({k, n}, by_terms(0), [](auto const& i) {
    return number<double>({i[0], i[1], 1}, 2);
  });
  auto left = dense(a.view({}));
  auto right = dense(b.view({}));
  left.shape = {1, m, k};
  right.shape = {1, k, n};
  auto c = from_index<double, 2>({m, n}, test::random_sharding(random, devices, {m, n}),
                                 [](auto const& i) {
                                   return number<double>({i[0], i[1], 2}, 3);
                                 });
  auto const before = dense(c.view({}));
  matmul_into(c, a, b, {.adds = true, .memory_bytes = random_memory(random)});
  return same(matmul(a, b).to_host(), multiplied<double>(left, right, {1, m, n}, k, nullptr)) &&
         same(c.to_host(), multiplied<double>(left, right, {1, m, n}, k, &before));
}

// A batch of products, where one operand may be repeated.
bool run_batch(Random& random) {
  auto const devices = random.between(1, device_count());
  auto const m = random_extent(random), n = random_extent(random), k = random_terms(random);
  auto const p = random.between(1, 5);
  Sliced<float, 3> a(random, {random.between(0, 3) == 0 ? 1 : p, m, k}, devices);
  Sliced<float, 3> b(random, {random.between(0, 3) == 0 ? 1 : p, k, n}, devices);
  auto const left = dense(a.view());
  auto const right = dense(b.view());
  Shape const shape{std::max(left.shape[0], right.shape[0]), m, n};
  auto const c = matmul(a.view(), b.view());
  bool const right_bits =
      c.shape() == shape && same(c.to_host(), multiplied<float>(left, right, shape, k, nullptr));
  Sliced<float, 2> d(random, {k, n}, devices);
  auto flat = dense(d.view());
  flat.shape = {1, k, n};
  Shape const of_flat{left.shape[0], m, n};
  return right_bits && same(matmul(a.view(), d.view()).to_host(),
                            multiplied<float>(left, flat, of_flat, k, nullptr));
}

// Vectors with a matrix and with each other.
bool run_vectors(Random& random) {
  auto const devices = random.between(1, device_count());
  auto const n = random_extent(random), k = random_terms(random);
  Sliced<double, 2> a(random, {k, n}, devices);
  Sliced<double, 1> x(random, {k}, devices);
  Sliced<double, 1> y(random, {n}, devices);
  auto of_a = dense(a.view());
  auto of_x = dense(x.view());
  auto of_y = dense(y.view());
  of_a.shape = {1, k, n};
  of_x.shape = {1, 1, k};
  of_y.shape = {1, n, 1};
  bool const is_row = same(matmul(x.view(), a.view()).to_host(),
                           multiplied<double>(of_x, of_a, {1, 1, n}, k, nullptr));
  bool const is_column = same(matmul(a.view(), y.view()).to_host(),
                              multiplied<double>(of_a, of_y, {1, k, 1}, n, nullptr));
  auto again = of_x;
  again.shape = {1, k, 1};
  double const product = matmul(x.view(), x.view());
  bool const is_cell = same({product}, multiplied<double>(of_x, again, {1, 1, 1}, k, nullptr));
  return is_row && is_column && is_cell;
}

bool run_case(std::uint64_t seed) {
  Random random(seed);
  switch (random.between(0, 11)) {
    case 0:
      return run_matrices<float>(random);
    case 1:
      return run_matrices<std::complex<double>>(random);
    case 2:
      return run_matrices<std::int16_t>(random);
    case 3:
      return run_matrices<float16>(random);
    case 4:
    case 5:
      return run_batch(random);
    case 6:
      return run_vectors(random);
    case 7:
    case 8:
      return run_cut_terms(random);
    default:
      return run_matrices<double>(random);
  }
}

}  // namespace

TEST_CASE("products have the bits of a plain loop wherever their operands lie") {
  CHECK(test::failed_seeds(150, [](std::uint64_t seed) { return test::agree(run_case(seed)); }) ==
        0);
}

TEST_SUITE_END();
