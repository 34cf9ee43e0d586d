#pragma once
/// @file
/// Schedules after which every member has the pieces of all.
///
/// Buffer 0 holds the pieces of all members, each at its place. Before the exchange a member has
/// only its own piece. For n members, h of them on each host:
///
///     builder      steps           messages of a member     pieces that it sends
///     directly     1               n - 1                    its own, n - 1 times
///     by ring      n - 1           n - 1                    all but one
///     by doubling  ceil(log2 n)    ceil(log2 n)             n - 1
///     by hosts     2               2 (h - 1) + hosts - 1    its own, h - 1 + hosts - 1 times, and
///                                                           hosts - 1 others to h - 1 neighbours
///
/// An empty piece is no message, a step without messages no step, and hosts may have fewer members:
/// the numbers are the most. On a single host no piece is forwarded.
/// Cost: O(members) time, by doubling O(log members).

#include <cstdint>

#include "src/plan/schedules/pieces.hpp"

namespace tessera {

/// Each member sends its piece to all others.
[[nodiscard]] Schedule gather_directly(Pieces const& pieces, std::int64_t self);

/// Pieces go round: in each step a member sends what it received in the step before.
[[nodiscard]] Schedule gather_by_ring(Pieces const& pieces, std::int64_t self);

/// A step doubles the pieces that a member has. For short pieces.
/// Source: Bruck et al., Efficient Algorithms for All-to-All Communications (1997).
[[nodiscard]] Schedule gather_by_doubling(Pieces const& pieces, std::int64_t self);

/// Each piece crosses the network once for each other host, to one member there, which forwards it
/// to the others of its host.
[[nodiscard]] Schedule gather_by_hosts(Pieces const& pieces, MemberHosts const& hosts,
                                       std::int64_t self);

}  // namespace tessera
