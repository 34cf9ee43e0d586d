#pragma once
/// @file
/// needs - owns = communication: what one device must send and receive before a statement can run.
///
/// Planning is arithmetic on boxes: no memory is allocated on a device, no transport is called. The
/// plan of any device of a large job can be made, and tested, in one process.

#include <memory>
#include <ostream>
#include <span>
#include <vector>

#include "src/base/inline_vector.hpp"
#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// Cells of an array as a statement reads them: index l of the box `lattice` (one dimension per
/// dimension of the array) is array cell cell + stride · l, and lies at frame + stride · l where
/// the reader looks for it, which differs by a multiple of the period where the read wraps around.
struct Cells {
  /// One dimension of the array.
  struct Axis {
    std::int64_t cell = 0;
    std::int64_t stride = 1;
    std::int64_t frame = 0;
    friend bool operator==(Axis const&, Axis const&) = default;
  };
  Box lattice;
  InlineVector<Axis, max_rank> axes;

  [[nodiscard]] std::int64_t count() const { return lattice.cells(); }
  /// The smallest box of array cells around all.
  [[nodiscard]] Box owned_hull() const;
  /// The smallest box around all positions where the reader expects the cells.
  [[nodiscard]] Box frame_hull() const;
  [[nodiscard]] bool wraps() const;
  /// The part of the lattice whose array cells lie in `box`.
  [[nodiscard]] Box lattice_in(Box const& box) const;
  /// Returns the same axes with another lattice box.
  [[nodiscard]] Cells with_lattice(Box const& box) const { return {box, axes}; }

  friend bool operator==(Cells const&, Cells const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Cells const& cells);
};

/// Cells of one array that travel between this device and one peer.
struct Transfer {
  DeviceId peer;
  std::size_t operand = 0;  ///< which of the statement's arrays
  Cells cells;
  std::size_t work = 0;  ///< which of its work boxes the reader needs them for
  std::size_t box = 0;   ///< which of the owner's boxes they lie in

  friend bool operator==(Transfer const&, Transfer const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Transfer const& transfer);
};

/// One array that a statement reads.
struct OperandUse {
  std::shared_ptr<Layout const> owned;
  Access access;
  std::size_t array = 0;  ///< equal for operands of one array, which share ghost cells
  /// True: read in place, with missing cells in ghost cells; false: a device assembles all cells
  /// that it needs in a temporary.
  bool in_place = true;
  /// The ghost cells that are still valid; none for a temporary.
  HaloValidity const* validity = nullptr;
};

/// The transfers of one device before it computes. `copies` go from its own cells to ghost cells or
/// temporaries; sends and receives are sorted by peer, then operand: one message per peer.
struct ExchangePlan {
  std::vector<Transfer> sends;
  std::vector<Transfer> receives;
  std::vector<Transfer> copies;
};

/// Plans needs - owns for `self`.
///
/// Ranks:   pure. What `self` sends to a peer is what that peer's own plan receives, in the same
///          order.
/// Cost:    O(partners) time and memory, whatever the number of devices; nothing is sent.
///
/// Example: 8 cells on 2 devices, work on cells [0, 7), read(i) = i + 1: device 0 needs [1, 5),
/// owns [0, 4), and receives [4, 5) from device 1.
[[nodiscard]] ExchangePlan plan_exchange(std::span<OperandUse const> operands,
                                         ComputePlacement const& place, DeviceId self);

}  // namespace tessera
