#include <doctest/doctest.h>

#include "tessera/array/rearrange.hpp"
#include "tessera/ops/reductions.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/seeds.hpp"

#include "oracle.hpp"

using namespace tessera;
using test::Random;
using test::Span;

/// Random slices of random layouts, turned around and reduced along random dimensions.
TEST_SUITE_BEGIN("ops/axis_fuzz");

namespace {

using Integers = std::vector<std::int64_t>;
using Mirror = test::Mirror<std::int64_t>;

Span random_span(Random& random, std::int64_t extent) {
  auto const count = random.between(0, 5) == 0 ? random.between(0, extent)
                                               : extent - random.between(0, extent / 3);
  if (count == 0) return {0, 1, 0};
  auto const step = count > 1 && extent > 2 * count ? 2 : 1;
  auto const first = random.between(0, extent - 1 - step * (count - 1));
  if (random.between(0, 3) != 0) return {first, step, count};
  return {first + step * (count - 1), -step, count};
}

Range to_range(Span const& span) {
  auto const end = span.first + span.step * span.count;
  return end < 0 ? range(span.first, none, span.step) : range(span.first, end, span.step);
}

std::int64_t total(Integers const& terms) {
  std::int64_t sum = 0;
  for (auto const x : terms) sum += x;
  return sum;
}

// The mirror with its dimensions in another order: dimension d becomes order[d] of the original.
Mirror turned(Mirror const& m, std::array<std::int64_t, 3> const& order) {
  Shape shape;
  for (auto const d : order) shape.push_back(m.shape[static_cast<std::size_t>(d)]);
  return Mirror::made_of(shape, [&](Index const& i) {
    Index cell(3, 0);
    for (std::size_t d = 0; d < 3; ++d) cell[static_cast<std::size_t>(order[d])] = i[d];
    return m.at(cell);
  });
}

template <class E>
bool agrees(E const& e, Mirror const& m, std::int64_t a, std::int64_t b) {
  auto const first = static_cast<std::size_t>(a);
  auto const second = static_cast<std::size_t>(b);
  auto const count_of = [](Integers const& x) {
    return std::count_if(x.begin(), x.end(), [](auto v) { return v != 0; });
  };
  return test::same_bits(sum(e, axis(a)).to_host(), test::reduced_by(m, {first}, total)) &&
         test::same_bits(sum(e, axis(a, b)).to_host(),
                         test::reduced_by(m, {first, second}, total)) &&
         test::same_bits(count(e, axis(b - 3).keep_dimensions()).to_host(),
                         test::reduced_by(m, {second}, count_of));
}

bool run_case(std::uint64_t seed) {
  Random random(seed);
  Shape const shape{random.between(1, 9), random.between(1, 7), random.between(1, 40)};
  auto const m = Mirror::made_of(shape, [&](Index const&) { return random.between(-3, 3); });
  auto const sharding = test::random_sharding(random, random.between(1, device_count()), shape);
  auto const u = test::spread_out<std::int64_t, 3>(m, sharding);
  test::Spans spans;
  for (auto const extent : shape) spans.push_back(random_span(random, extent));
  auto const part = u(to_range(spans[0]), to_range(spans[1]), to_range(spans[2]));
  auto const cells = m.slice(spans);
  auto const a = random.between(0, 2);
  auto const b = (a + random.between(1, 2)) % 3;
  bool const good = random.chance()
                        ? agrees(part, cells, a, b)
                        : agrees(transpose(part, {2, 0, 1}), turned(cells, {2, 0, 1}), a, b);
  if (!test::agree(good))
    MESSAGE("shape ", text(shape), ' ', text(sharding), " axes ", a, ' ', b, ' ',
            text(spans[0], ' ', spans[1], ' ', spans[2]));
  return test::agree(good);
}

}  // namespace

TEST_CASE("random slices and orders reduce to what lists of their terms do") {
  CHECK(test::failed_seeds(80, run_case) == 0);
}

TEST_SUITE_END();
