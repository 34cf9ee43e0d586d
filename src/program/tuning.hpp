#pragma once
/// @file
/// How deep and how wide the blocks of a loop are to be.

#include <string>

#include "tessera/program/loop_options.hpp"

#include "analysis.hpp"
#include "build.hpp"

namespace tessera {

/// The extent of a tile along a dimension where one tile is all.
inline constexpr std::int64_t whole_extent = std::int64_t{1} << 40;

/// A choice, and what it is expected to cost.
struct BlockChoice {
  BlockShape shape;
  double step_seconds = 0;  ///< predicted, of the device with the most cells
  std::string reason;       ///< for people: what limits it
};

/// `message_seconds`: what an exchange between neighbours takes, however little is sent; equal on
/// all processes.
/// Ranks: the steps are equal on all processes; tiles depend on this machine's caches.
[[nodiscard]] BlockChoice choose_block(LoopAnalysis const& analysis, Names const& names,
                                       LoopOptions const& options, double message_seconds);

}  // namespace tessera
