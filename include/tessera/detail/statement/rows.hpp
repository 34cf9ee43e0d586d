#pragma once
/// @file
/// Walks over the rows of a box.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tessera/detail/base/function.hpp"
#include "tessera/index/index.hpp"

namespace tessera::detail {

/// Calls visit() for rows [first, last) of a box, in order: a row is a run along the last
/// dimension, rows count in row-major order over the others.
///
/// `cursors` start at the box's first row. Before each call all of them have been moved to the
/// call's row by cursor.move(d, n): n indices further along dimension d. So a row costs one
/// addition per cursor.
template <class Visit, class... Cursors>
TESSERA_FUNCTION void visit_rows(Index const& extents, std::int64_t first, std::int64_t last,
                                 Visit const& visit, Cursors&... cursors) {
  if (first == last) return;
  std::int64_t at[max_rank] = {};
  std::int64_t rest = first;
  for (std::size_t d = extents.size() - 1; d-- > 0 && rest != 0; rest /= extents[d]) {
    at[d] = rest % extents[d];
    (cursors.move(d, at[d]), ...);
  }
  for (auto row = first;;) {
    // Rows that follow each other along the last dimension but one.
    auto const line = extents.size() - 2;
    auto const count =
        extents.size() < 2 ? 1 : std::min<std::int64_t>(extents[line] - at[line], last - row);
    for (std::int64_t i = 1;; ++i) {
      visit();
      if (i == count) break;
      (cursors.move(line, 1), ...);
    }
    row += count;
    if (row == last) return;
    auto d = line;
    for (at[d] += count - 1; at[d] + 1 == extents[d]; at[d--] = 0) (cursors.move(d, -at[d]), ...);
    ++at[d];
    (cursors.move(d, 1), ...);
  }
}

}  // namespace tessera::detail
