// Statements that follow each other without a pause, against the same with a wait after each one:
// all arrays have to end with the same bits. Arrays are small, so that statements run together only
// where TESSERA_TOGETHER makes them (tests.cmake).

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

#include "support/agree.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

#include "neighbours.hpp"

using namespace tessera;
using test::Random;

TEST_SUITE_BEGIN("program/together");

namespace {

enum class Act : std::uint8_t {
  slices,      ///< slices side by side, with steps
  added,       ///< a slice changed in place
  stencil,     ///< inner cells of an array from itself
  neighbours,  ///< shifts past the edges, which wrap around
  reversed,    ///< rows or columns read backwards
  repeated,    ///< one row, read for all
  masked,
  counted,  ///< coordinates and a number of the step
  made,     ///< an array that ends right after the statement that reads it
  narrow,   ///< numbers of another size
  swapped,
  summed,  ///< a sum in between, which a statement reads
  read,    ///< by the host
  viewed,  ///< cells changed through views
  count
};

struct Action {
  Act act = Act::slices;
  std::size_t a = 0, b = 0, c = 0;  ///< arrays: a is written
  std::vector<Range> in_a, in_b, in_c;
  std::vector<std::int64_t> offsets;
  std::size_t dimension = 0;
  double number = 0;

  friend std::ostream& operator<<(std::ostream& out, Action const& s) {
    return out << "{act " << static_cast<int>(s.act) << ", arrays " << s.a << ' ' << s.b << ' '
               << s.c << ", offsets " << join(s.offsets, "(", ")") << '}';
  }
};

template <std::size_t N>
class Programs {
 public:
  explicit Programs(std::uint64_t seed) : random_(seed) {
    constexpr std::array<std::int64_t, 4> most{0, 60, 24, 10};
    for (std::size_t d = 0; d < N; ++d) shape_.push_back(random_.between(1, most[N]));
    sharding_.emplace(random_.between(0, 2) > 0
                          ? NamedSharding(Mesh({{"x", device_count()}}), first_dimension_cut())
                          : test::random_sharding(random_, device_count(), shape_));
    auto const count = random_.between(2, 12);
    for (std::int64_t s = 0; s < count; ++s) actions_.push_back(random_action());
  }

  bool is_right() {
    auto const apart = run([] { synchronize(); });
    auto const together = run([] {});
    INFO("shape ", shape_, " on ", *sharding_, ", actions ", join(actions_, "", ""));
    bool const is_same = test::agree(together == apart);
    CHECK(is_same);
    return is_same;
  }

 private:
  using Array = DistArray<double, N>;
  static constexpr std::size_t arrays = 3;
  using Bits = std::vector<std::uint64_t>;

  static PartitionSpec first_dimension_cut() {
    return []<std::size_t... d>(std::index_sequence<d...>) {
      return P("x", ((void)d, none)...);
    }
    (std::make_index_sequence<N - 1>());
  }

  std::size_t any_array() { return static_cast<std::size_t>(random_.between(0, arrays - 1)); }

  Action random_action() {
    Action s;
    // What waits for the devices comes rarely.
    auto const last = random_.between(0, 3) == 0 ? Act::count : Act::summed;
    s.act = static_cast<Act>(random_.between(0, static_cast<int>(last) - 1));
    s.a = any_array();
    s.b = any_array();
    s.c = any_array();
    s.number = static_cast<double>(random_.between(1, 9)) / 10;
    s.dimension = static_cast<std::size_t>(random_.between(0, N - 1));
    for (std::size_t d = 0; d < N; ++d) {
      add_ranges(s, shape_[d]);
      s.offsets.push_back(random_.between(-2, 2));
    }
    return s;
  }

  // Cells of a, and of b and c at a distance.
  void add_ranges(Action& s, std::int64_t extent) {
    auto const ranges = test::random_neighbours(random_, extent);
    s.in_a.push_back(ranges.written);
    s.in_b.push_back(ranges.one);
    s.in_c.push_back(ranges.other);
  }

  // Some programs grow beyond all numbers. Every NaN counts as one.
  static void add_bits(Bits& bits, double value) {
    bits.push_back(std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value));
  }

  template <class T>
  DistArray<T, N> start(std::uint64_t seed) const {
    std::array<std::int64_t, N> extents;
    std::copy(shape_.begin(), shape_.end(), extents.begin());
    return from_index<T>(extents, *sharding_, [=](auto i) {
      std::uint64_t hash = seed;
      for (std::size_t d = 0; d < N; ++d) hash = mix(hash, static_cast<std::uint64_t>(i[d]));
      return static_cast<T>(static_cast<double>(hash >> 11U) * 0x1p-53);
    });
  }

  template <class Pause>
  Bits run(Pause const& pause) {
    std::vector<Array> u;
    for (std::size_t a = 0; a < arrays; ++a) u.push_back(start<double>(a));
    auto small = start<float>(arrays);
    Bits bits;
    for (std::int64_t step = 0; step < 3; ++step)
      for (auto const& s : actions_) {
        carry_out(s, u, small, step, bits);
        pause();
      }
    for (auto const& array : u)
      for (auto const cell : array.to_host()) add_bits(bits, cell);
    for (auto const cell : small.to_host()) add_bits(bits, cell);
    return bits;
  }

  template <class A>
  static auto slice(A& array, std::vector<Range> const& ranges) {
    return [&]<std::size_t... d>(std::index_sequence<d...>) {
      return array(ranges[d]...);
    }
    (std::make_index_sequence<N>());
  }
  template <class A>
  static auto shifted(A& array, Action const& s) {
    return [&]<std::size_t... d>(std::index_sequence<d...>) {
      return shift(array, {s.offsets[d]...}, {((void)d, Boundaries(periodic))...});
    }
    (std::make_index_sequence<N>());
  }

  void carry_out(Action const& s, std::vector<Array>& u, DistArray<float, N>& small,
                 std::int64_t step, Bits& bits) {
    auto& a = u[s.a];
    auto& b = u[s.b];
    auto& c = u[s.c];
    switch (s.act) {
      case Act::slices:
        slice(a, s.in_a) = s.number * slice(b, s.in_b) + 0.1 * slice(c, s.in_c);
        return;
      case Act::added:
        slice(a, s.in_a) += s.number * slice(b, s.in_b);
        return;
      case Act::stencil:
        slice(a, s.in_a) = 0.7 * slice(a, s.in_a) + 0.1 * slice(a, s.in_b) + 0.1 * slice(a, s.in_c);
        return;
      case Act::neighbours:
        a = s.number * shifted(b, s) + 0.1 * c;
        return;
      case Act::reversed: {
        std::vector<Range> ranges(N, range(none, none));
        ranges[s.dimension] = range(none, none, -1);
        a = 0.5 * b + 0.4 * slice(c, ranges);
        return;
      }
      case Act::repeated: {
        std::vector<Range> ranges(N, range(none, none));
        ranges[0] = range(0, 1);
        a = 0.5 * b + 0.4 * slice(c, ranges);
        return;
      }
      case Act::masked:
        a(c > s.number) = 0.3 * b;
        return;
      case Act::counted:
        a = 0.9 * b + 0.01 * static_cast<double>(step) + 0.001 * index(s.dimension);
        return;
      case Act::made: {
        Array const w = 0.5 * b + 0.25 * shifted(a, s);
        a = 0.9 * w;
        return;
      }
      case Act::narrow:
        if (s.a == 0)
          small = cast<float>(0.5 * b) + 0.25F * small;
        else
          a = 0.5 * b + 0.25 * small;
        return;
      case Act::swapped:
        if (s.a != s.b) std::swap(a, b);
        return;
      default:
        look(s, u, bits);
    }
  }

  void look(Action const& s, std::vector<Array>& u, Bits& bits) {
    auto& a = u[s.a];
    if (s.act == Act::summed) {
      a = 0.5 * a + 0.001 * sum(u[s.b]);
    } else if (s.act == Act::read) {
      for (auto const cell : u[s.b].to_host()) add_bits(bits, cell);
      add_bits(bits, sum(u[s.c]));
    } else {
      for_each_shard(a, [&](ShardView<double, N> const& shard) {
        if (shard.size() > 0) *shard.data() *= s.number;
      });
    }
  }

  Random random_;
  Shape shape_;
  std::optional<NamedSharding> sharding_;
  std::vector<Action> actions_;
};

template <std::size_t N>
void check_programs(std::int64_t usual_cases) {
  auto const run = [](std::uint64_t seed) { return Programs<N>(seed).is_right(); };
  CHECK(test::failed_seeds(usual_cases, run) == 0);
}

}  // namespace

TEST_CASE("statements of vectors end with the same bits whether or not they wait") {
  check_programs<1>(60);
}

TEST_CASE("statements of planes end with the same bits whether or not they wait") {
  check_programs<2>(60);
}

TEST_CASE("statements of spaces end with the same bits whether or not they wait") {
  check_programs<3>(40);
}

TEST_SUITE_END();
