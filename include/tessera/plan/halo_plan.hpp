#pragma once
/// @file
/// What travels so that every device has all ghost cells of given widths, whoever owns them.
///
/// A statement fills the ghost cells that it reads; a block of steps needs whole frames of them, as
/// deep as all its steps together reach.

#include <memory>
#include <span>

#include "tessera/plan/exchange_plan.hpp"
#include "tessera/plan/ghost.hpp"

namespace tessera {

/// The ghost cells of one array, equally wide around every device's box that is not empty.
struct HaloNeed {
  std::shared_ptr<Layout const> owned;  ///< of one box per device
  GhostWidths widths;
  /// Per dimension: past the domain's ends lie its periodic images. Elsewhere there is nothing.
  InlineVector<bool, max_rank> wraps;
};

/// Plans the transfers; `Transfer::leaf` says which of `needs`.
///
/// Ranks: pure. What `self` sends to a peer is what that peer's own plan receives, in the same
///        order: one message per peer.
/// Cost:  O(partners) time and memory, whatever the number of devices; nothing is sent.
///
/// Example: 10 cells on 3 devices, widths 2 and 2, no wrapping: device 1 owns [4, 7), receives
/// [2, 4) from device 0 and [7, 9) from device 2.
[[nodiscard]] ExchangePlan plan_halo(std::span<HaloNeed const> needs, DeviceId self);

}  // namespace tessera
