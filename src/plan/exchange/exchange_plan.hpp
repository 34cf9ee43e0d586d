#pragma once
/// @file
/// needs - owns = communication: what one device must send and receive before a statement can run.
///
/// Planning is arithmetic on boxes: no memory is allocated on a device, no transport is called. The
/// plan of any device of a large job can be made, and tested, in one process.

#include <ostream>
#include <span>
#include <vector>

#include "src/plan/exchange/cells.hpp"
#include "src/plan/exchange/forwarding.hpp"
#include "src/plan/exchange/temporaries.hpp"

namespace tessera {

/// Cells of one array that travel between this device and one peer.
struct Transfer {
  DeviceId peer;
  std::size_t operand = 0;  ///< of the statement: one that reads the cells
  Cells cells;
  std::size_t into = 0;  ///< which of the reader's temporaries; its work box if they land there
  std::size_t box = 0;   ///< which of the owner's boxes they lie in

  friend bool operator==(Transfer const&, Transfer const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Transfer const& transfer);
};

/// The transfers of one device before it computes. `copies` go from its own cells to ghost cells or
/// temporaries; sends and receives are sorted by peer, then operand: one message per peer.
///
/// Forwarded cells follow once all others have come, again in one message per peer. Their sends
/// start where this device has received the cells, not from its own ones.
struct ExchangePlan {
  Temporaries temporaries;
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<Transfer> copies;
  std::vector<Transfer> forwarded_sends;
  std::vector<Transfer> forwarded_receives;
};

/// Plans needs - owns for `self`.
///
/// Ranks:   pure. What `self` sends to a peer is what that peer's own plan receives, in the same
///          order. A cell that several operands of an array read, or several work boxes, is sent
///          once, except where a device needs it in two places: in ghost cells as itself and as a
///          periodic image or at another step, in ghost cells and in a temporary, or in temporaries
///          at steps of which neither divides the other along all dimensions. The same holds of
///          what is forwarded.
/// Cost:    O(partners) time and memory, whatever the number of devices; nothing is sent. Where
///          cells may be forwarded, as much again for each device of the host.
///
/// Example: 8 cells on 2 devices, work on cells [0, 7), read(i) = i + 1: device 0 needs [1, 5),
/// owns [0, 4), and receives [4, 5) from device 1.
[[nodiscard]] ExchangePlan plan_exchange(std::span<OperandUse const> operands,
                                         ComputePlacement const& place, DeviceId self,
                                         Forwarding const& forwarding = {});

}  // namespace tessera
