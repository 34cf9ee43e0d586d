#pragma once
/// @file
/// Temporaries: memory in which a device assembles cells that it cannot read in place.

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "src/base/inline_vector.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/cells.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// Memory for cells of one array: place p along a dimension is for the unwrapped cell
/// first + stride · p. Operands and boxes of work that read the same cells share it.
struct Temporary {
  /// One dimension of the array.
  struct Axis {
    std::int64_t first = 0;
    std::int64_t stride = 1;
    friend bool operator==(Axis const&, Axis const&) = default;
  };
  std::size_t operand = 0;  ///< the first that reads the array through temporaries
  Box places;
  InlineVector<Axis, max_rank> axes;
  std::vector<Cells> needs;  ///< disjoint, without repeats; their lattices count places

  /// Turns the cells that an operand reads, by indices of the statement from `first` on, into
  /// places.
  [[nodiscard]] AffineMap places_of(AffineMap cells, Index const& first) const;
};

/// One formula by which a box of work reads an operand that is not read in place.
struct TemporaryRead {
  static constexpr std::size_t own_box = static_cast<std::size_t>(-1);

  std::size_t operand = 0;
  std::size_t work = 0;
  Cells cells;                      ///< by indices of the statement, with all periodic images
  std::size_t temporary = own_box;  ///< own_box: one box of the device holds all these cells
};

/// Cells that a device needs in two places of its temporaries: once they have come to the one, it
/// copies them to the other.
struct Repeat {
  std::size_t from = 0;  ///< numbers of temporaries
  std::size_t to = 0;
  Box places;             ///< in `to`
  AffineMap from_places;  ///< the place in `from` of each

  friend bool operator==(Repeat const&, Repeat const&) = default;
};

/// The temporaries of a device for a statement.
struct Temporaries {
  std::vector<Temporary> list;
  std::vector<TemporaryRead> reads;  ///< by operand, then by work
  std::vector<Repeat> repeats;

  /// How a box of work reads an operand by a formula.
  [[nodiscard]] TemporaryRead const& read_of(std::size_t operand, std::size_t work,
                                             OperandFormula const& formula) const;
};

/// Decides which cells `device` assembles where. Those that overlap, or lie side by side, share a
/// temporary unless most of their hull would be empty. Each cell comes once, but for one that is
/// read in steps of several cells, of which none divides the other.
///
/// Ranks: pure.
/// Cost:  O(n log n) for n boxes of work, if few of them overlap.
[[nodiscard]] Temporaries plan_temporaries(std::span<OperandUse const> operands,
                                           std::span<WorkBox const> works, DeviceId device);

}  // namespace tessera
