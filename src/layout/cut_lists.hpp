#pragma once
/// @file
/// The lists that some cuts have.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/layout/cut.hpp"

namespace tessera {

/// The listed sizes of a cut.
struct Cut::Sizes {
  std::vector<std::int64_t> borders;  ///< prefix sums: piece k is [borders[k], borders[k + 1])
  std::int64_t largest = 0;
  std::uint64_t fingerprint = 0;

  [[nodiscard]] std::int64_t pieces() const {
    return static_cast<std::int64_t>(borders.size()) - 1;
  }
  [[nodiscard]] std::int64_t border(std::int64_t k) const {
    return borders[static_cast<std::size_t>(k)];
  }
};

/// The segments of a cut.
struct Cut::Segments {
  std::vector<Segment> list;
  std::vector<std::int64_t> borders{0};  ///< segment s is [borders[s], borders[s + 1])
  std::uint64_t fingerprint = 0;

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(list.size()); }
  /// Throws: ShardingError unless they make up an extent that is cut that many ways.
  void check(Cut const& cut, std::int64_t extent, std::int64_t ways) const;
  /// True if one of them is no formula.
  [[nodiscard]] bool lists_pieces() const {
    return std::any_of(list.begin(), list.end(),
                       [](Segment const& segment) { return segment.cut.lists_cells(); });
  }
  [[nodiscard]] Segment const& at(std::int64_t s) const {
    return list[static_cast<std::size_t>(s)];
  }
  [[nodiscard]] std::int64_t border(std::int64_t s) const {
    return borders[static_cast<std::size_t>(s)];
  }
};

}  // namespace tessera
