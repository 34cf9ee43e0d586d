#pragma once
/// @file
/// Values of members for tests, and as plain lists of cells what collectives should make of them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tessera/ops/per_device.hpp"

#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/runtime/engine.hpp"

#include "support/agree.hpp"

namespace tessera::test {

[[nodiscard]] inline Group first_two() {
  return Group({0, 1});
}
[[nodiscard]] inline Group all_eight() {
  return Mesh({{"all", 8}}).group("all");
}
[[nodiscard]] inline Mesh grid() {
  return Mesh({{"cp", 4}, {"tp", 2}});
}

/// 0 to 11 on rank 0, 100 to 111 on rank 1, as 3 x 4.
[[nodiscard]] inline PerDevice<float, 2> hundreds() {
  return per_device<float>(first_two(), {3, 4}, [](Member m, auto i) {
    return static_cast<float>(100 * m.rank + 4 * i[0] + i[1]);
  });
}
/// 1 to 12 on rank 0, ten times that on rank 1.
[[nodiscard]] inline PerDevice<float, 2> tens() {
  return per_device<float>(first_two(), {3, 4}, [](Member m, auto i) {
    return static_cast<float>((m.rank == 0 ? 1 : 10) * (4 * i[0] + i[1] + 1));
  });
}
/// Each member's device number and one more, as one cell.
[[nodiscard]] inline PerDevice<std::int64_t, 1> device_plus_one(Group const& group) {
  return per_device<std::int64_t>(group, {1}, [](Member m, auto) { return m.device.value() + 1; });
}

[[nodiscard]] inline std::vector<float> eleven_times(std::int64_t first, std::int64_t count) {
  std::vector<float> cells;
  for (std::int64_t i = 0; i < count; ++i) cells.push_back(static_cast<float>(11 * (first + i)));
  return cells;
}

inline std::vector<float> const both_rows{0, 1, 2,  3,  100, 101, 102, 103,
                                          4, 5, 6,  7,  104, 105, 106, 107,
                                          8, 9, 10, 11, 108, 109, 110, 111};

/// A value, row-major.
template <class T>
struct Plain {
  Shape shape;
  std::vector<T> cells;

  friend bool operator==(Plain const& a, Plain const& b) {
    return a.shape == b.shape && a.cells == b.cells;
  }
};

/// The values of each list by rank. A value that nobody has is empty and has no dimensions.
template <class T>
using PlainLists = std::vector<std::vector<Plain<T>>>;

template <class Visit>
void for_each_index(Shape const& shape, Visit const& visit) {
  if (cells_of(shape) == 0) return;
  Index index(shape.size(), 0);
  for (;;) {
    visit(std::as_const(index));
    auto d = shape.size();
    for (; d > 0 && ++index[d - 1] == shape[d - 1]; --d) index[d - 1] = 0;
    if (d == 0) return;
  }
}

template <class T, class F>
[[nodiscard]] Plain<T> plain(Shape const& shape, F const& f) {
  Plain<T> value{shape, {}};
  for_each_index(shape, [&](Index const& index) { value.cells.push_back(f(index)); });
  return value;
}

template <class T>
[[nodiscard]] T cell(Plain<T> const& value, Index const& index) {
  auto const strides = row_major_strides(value.shape);
  std::int64_t place = 0;
  for (std::size_t d = 0; d < index.size(); ++d) place += strides[d] * index[d];
  return value.cells[static_cast<std::size_t>(place)];
}

/// The cells [lo, hi) along an axis.
template <class T>
[[nodiscard]] Plain<T> piece(Plain<T> const& value, std::size_t axis, std::int64_t lo,
                             std::int64_t hi) {
  auto shape = value.shape;
  shape[axis] = hi - lo;
  return plain<T>(shape, [&](Index index) {
    index[axis] += lo;
    return cell(value, index);
  });
}

template <class T>
[[nodiscard]] Plain<T> joined(std::vector<Plain<T>> const& values, std::size_t axis) {
  auto shape = values[0].shape;
  shape[axis] = 0;
  for (auto const& value : values) shape[axis] += value.shape[axis];
  return plain<T>(shape, [&](Index index) {
    std::size_t k = 0;
    for (; index[axis] >= values[k].shape[axis]; ++k) index[axis] -= values[k].shape[axis];
    return cell(values[k], index);
  });
}

/// True if each member of this process has just this value. Ranks: local.
template <class T, std::size_t N>
[[nodiscard]] bool members_have(PerDevice<T, N> const& x, PlainLists<T> const& expected) {
  std::mutex mutex;
  bool is_right = true;
  auto const look = [&](Member const& member, ShardView<T const, N> const& view) {
    Plain<T> const found =
        plain<T>(Shape(view.extents().begin(), view.extents().end()), [&](Index const& index) {
          typename ShardView<T const, N>::Extents at;
          std::copy(index.begin(), index.end(), at.begin());
          return view[at];
        });
    auto const& wanted =
        expected[static_cast<std::size_t>(member.group)][static_cast<std::size_t>(member.rank)];
    std::lock_guard const guard(mutex);
    is_right = is_right && (wanted.shape.empty() ? found.cells.empty() : found == wanted);
  };
  per_member(look, x);
  for (std::size_t list = 0; list < expected.size(); ++list)
    for (std::size_t rank = 0; rank < expected[list].size(); ++rank) {
      auto const& wanted = expected[list][rank];
      if (wanted.shape.empty()) continue;
      auto const extents =
          x.extents(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(list));
      is_right = is_right && std::equal(extents.begin(), extents.end(), wanted.shape.begin());
    }
  return is_right;
}

}  // namespace tessera::test
