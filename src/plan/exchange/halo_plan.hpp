#pragma once
/// @file
/// Plans the transfers that give every device all ghost cells of given widths, whoever owns them.
///
/// A statement fills only the ghost cells that it reads. A block of steps needs complete frames of
/// ghost cells, as deep as all its steps together reach.

#include <memory>
#include <span>

#include "src/base/detail.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// The ghost cells of one array, equally wide around every device's box that is not empty.
struct HaloNeed {
  std::shared_ptr<Layout const> owned;  ///< of one box per device
  GhostWidths widths;
  /// Per dimension: true if periodic images lie past the domain's ends; otherwise there are no
  /// cells.
  InlineVector<bool, max_rank> wraps;
};

/// Plans the transfers; `Transfer::operand` says which of `needs`.
///
/// Ranks: pure. What `self` sends to a peer is what that peer's own plan receives, in the same
///        order: one message per peer.
/// Cost:  O(partners) time and memory, whatever the number of devices; nothing is sent.
///
/// Example: 10 cells on 3 devices, widths 2 and 2, no wrapping: device 1 owns [4, 7), receives
/// [2, 4) from device 0 and [7, 9) from device 2.
[[nodiscard]] ExchangePlan plan_halo(std::span<HaloNeed const> needs, DeviceId self);

}  // namespace tessera
