#pragma once
/// @file
/// Schedules that add the values of all members, in the order of members.
///
/// Buffer 0 holds a member's own values and buffer 1 the sums; both have a place for every cell.
/// The sum of a cell is ((v0 + v1) + v2) + ..., whatever the schedule: no other order appears. For
/// n members:
///
///     builder      sums at           most steps          messages of a member
///     directly     its own share     2                   n - 1
///     by relay     the last member   chunks + 2          chunks
///     by relay     all               2 chunks + 3        2 chunks, the first and the last chunks
///     by tree      the first member  2 + ceil(log2 n)    1, of all values below it in the tree
///     by tree      all               3 + ceil(log2 n)    ceil(log2 n)

#include <cstdint>

#include "src/plan/schedules/pieces.hpp"

namespace tessera {

/// Each member is sent all values of its share, in buffer 2, and adds them.
/// Cost: O(members) time.
[[nodiscard]] Schedule sum_directly(Pieces const& shares, std::int64_t self);

/// Sums pass through the members in chunks; each member adds its own values to what arrives.
/// Cost: O(chunks) time, whatever the number of members.
struct Relay {
  std::int64_t members = 1;
  std::int64_t cells = 0;
  std::int64_t chunks = 1;  ///< 1 or more, of equal size but for one cell; empty ones are left out
};
/// The sums end at the last member.
[[nodiscard]] Schedule sum_by_relay(Relay const& relay, std::int64_t self);
/// Chunks that are finished go back the same way, so that all members have them.
[[nodiscard]] Schedule sum_by_relay_to_all(Relay const& relay, std::int64_t self);

/// Values travel unadded up a tree to the first member, in buffer 2, which adds them. For few
/// cells.
[[nodiscard]] Schedule sum_by_tree(std::int64_t members, std::int64_t cells, std::int64_t self);
/// The sums then go down the tree.
[[nodiscard]] Schedule sum_by_tree_to_all(std::int64_t members, std::int64_t cells,
                                          std::int64_t self);

}  // namespace tessera
