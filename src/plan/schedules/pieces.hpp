#pragma once
/// @file
/// How the cells of a buffer are divided among the members of a group.

#include <cstddef>
#include <cstdint>
#include <functional>

#include "src/mesh/member_hosts.hpp"
#include "src/plan/schedules/schedule.hpp"

namespace tessera {

/// A piece for each member, in the order of members; a piece may be empty.
struct Pieces {
  std::int64_t members = 1;
  /// Where the piece of a member begins; the number of all cells for `members`.
  std::function<std::int64_t(std::int64_t)> begin;

  [[nodiscard]] std::int64_t cells() const { return begin(members); }
  /// The pieces [first, last) in a buffer that holds all of them.
  [[nodiscard]] CellRange range(std::size_t buffer, std::int64_t first, std::int64_t last) const {
    return {buffer, begin(first), begin(last)};
  }
  [[nodiscard]] CellRange range(std::size_t buffer, std::int64_t member) const {
    return range(buffer, member, member + 1);
  }
};

}  // namespace tessera
